"""Ordinary words: what people say whatever they talk about, and how much each tells of what a message is about.

The lists were written for this project by hand, from no other list and no corpus, so that they have its licence. Words
are in small letters and without accents. Inflected English words are found by their base form; other languages have
their forms listed. Of Chinese and Japanese there are characters, as pairs of neighbours are what is searched.
"""

from __future__ import annotations

# Courtesy, in whatever language the rest is.
_COURTESY = """
hi hello hey hiya yo howdy greetings thanks thank thx ty tysm cheers please pls plz sorry pardon apologies bye goodbye
ok okay okey kk yes yeah yep yup nope nah lol haha hahaha hehe lmao omg wow oh ooh ah aha hmm hm um uh er huh oops
phew yay hooray ugh meh btw fyi imo imho asap brb afk tbh idk np hallo servus moin tschuss danke bitte guten gruss
grusse liebe lieber entschuldigung ja nein genau prima hola buenas buenos gracias porfa adios vale perdon saludos
vosotros bonjour bonsoir salut merci voila desole bisous coucou ciao grazie prego scusa buongiorno buonasera ola
obrigado obrigada hoi dank bedankt alsjeblieft mate buddy dude pal sir madam excuse hmmm mhm woohoo yikes eh meow xoxo
hugs gg wp rofl nvm fwiw iirc afaik tl dr tldr wtf ffs jk omw tyvm thanx thnx kthx dankeschon bitteschon denada mille
perfavore arigato gozaimasu merhaba tesekkurler dzieki czesc tack hej dzien dobry spasibo privet
"""

_ENGLISH_NOTHING = """
a about above absolutely according across actual actually after again against ago agree ah ahead alas alike all allow
almost alone along already alright also although always am amazing among amongst an and another any anybody anyhow
anymore anyone anything anytime anyway anyways anywhere apart apologize appreciate apparently are aren around as aside
ask at awesome away back basically be because become been before begin being believe below beside besides best better
between beyond big bit both brilliant brief briefly but by came can cannot catch certain certainly chance chat check
clear clearly clue come consider continue cool correct could couldn couple course curious currently day dear
definitely detail did didn different do does doesn doing don done dont down due during each earlier early easy either
else enough especially even evening afternoon morning night ever every everybody everyone everything everywhere exact
exactly excellent except excited exciting excuse fact fair fairly fantastic far favor favour feel few figure final
finally fine finish finished first folks following for forget forward frankly friend friendly from front full fun
further general generally get getting give glad go going gonna good goodness gosh got gotta grateful great guess guy
guys had half hand handle handy hang happen happy hard hardly has hasn hate have haven having he hear heard help
helpful hence her here hers him himself his hmm hold honest honestly hope hopefully hour how however huge i idea if
important in indeed inside instead interested interesting into is isn it its itself just keep kidding kind kinda
kindly knock know lately later latest latter lead least leave less let lets like likely listen literally little ll
long longer look lot lots lovely luck lucky made mainly make many matter may maybe me mean meanwhile mention might
mind mine minute minutes moment month more moreover most mostly move much must my myself namely near nearly necessary
need neither never nevertheless new next nice nicely no nobody none nonetheless nor normal normally not note nothing
notice now nowhere obviously occasionally of off often old on once one ones only onto open opinion or other others
otherwise ought our ours ourselves out over overall own part particular particularly past people per perfect perfectly
perhaps person pick place plan planning pleasant pleasure plenty point possible possibly pretty previous previously
probably problem proceed promise properly put question questions quick quickly quite rather re reach ready real really
reason recall recap recent recently regarding regards relevant remember remind reply right round same say says second
seem self set several shall she short shortly should shouldn show side similar simple simply since small so some
somebody somehow someone something sometime sometimes somewhat somewhere soon sort sound speak specific spot start
started stay step still stop straight stuff stuck such suddenly super suppose sure surely take taken talk tell tend
than that the their them then there therefore these they thing things think third this those though thought through
throughout thus till time times to today together tomorrow tonight too total totally toward towards tried true truly
try trying turn twice two three under understand understood unfortunately unless unlike until up update upon us use
used useful usual usually ve various versus very via vs wait wanna want was wasn way ways we week weekend welcome well
went were weren what whatever when whenever where wherever whether which while who whoever whole whom whose why will
wish with within without won wonder wonderful wondering word work works worry worth would wouldn wow wrong yea year
yesterday yet you your yours yourself worries meantime hurry busy tired sleepy bored boring exhausted fingers crossed
nevermind gotcha noted roger lemme dunno sorta cya ttyl yall ya u ur r k thru tho til whats hows whos wheres thats
theres im ive id ill youre cant wont didnt impressive neat sweet nicer finest smart clever genius job bother disturb
disturbing interrupt forgive assistant assist assistance ai bot robot computer chatbot llm gpt claude silly dumb
stupid foolish embarrassing embarrassed sincerely afraid proud thrilled delighted pleased awful terrible horrible
lousy dreadful rotten crazy insane hilarious adorable gorgeous ridiculous annoying annoyed frustrated frustrating
confused confusing stressed overwhelmed nervous worried hungry thirsty sick merry christmas easter xmas congrats
congratulations congratulate wishes wishing blessing bless respectfully hurt nap yawn sigh snooze awake asleep sleep
slept woke wake bedtime midnight noon lunchtime battery comprehend repeat repeated elaborate whatsoever alternatively
additionally furthermore accordingly consequently eventually initially originally ultimately personally seriously
surprisingly interestingly luckily sadly thankfully roughly slightly strictly incredibly extremely terribly awfully
badly instantly immediately constantly frequently rarely seldom regularly beginning ending finishing stopping starting
continuing resume quit halt cancel undo redo revert yep affirmative agreed disagree deal nod shrug swear bet
wager doubt guessing guesses assume hands helping helped solved solve sorted figured fixed working worked matters care
cared caring minding minds hello implement optimise optimize refactor rewrite polish tweak improve enhance rush haste
patience patient patiently slowly afterwards beforehand momentarily sense nonsense impression feeling feelings mood
vibe spirit smile smiling laugh laughing cry crying tears grin hanging holding sec secs min mins hr hrs wk yr wanted
needing needs needed wants hoping hoped wondered asking asked asks telling told tells saying talking talked speaking
spoke chatting chatted discussion discuss firstly secondly lastly fourth last message messages replies text answer
answers response weeks days hours seconds months years everyday daily monday mondays fridays yesterdays mornings
evenings nights afternoons
"""

_ENGLISH_LITTLE = """
able accept actually add adjust advice alternative amount analyze analyse answer appear approach arrange article
aspect assume attach attempt attention available avoid aware background bad base basic bear beautiful behave bore
bottom box break bring bullet bullets call capital care careful carefully carry case category cause center central
change character choice choose clarify clean close closely collect column combine comment common communicate compare
complete completely complex compose concise concisely concern conclusion confirm confuse connect context contrast
convert convince copy count cover create cross current cut danger deal decide deep default define depend describe
description despite detailed develop difference difficult direct directly discuss divide double draft draw drop edit
effect effort elaborate email empty end english enjoy entire equal essay event example examples excited exist expand
expect experience explain explanation express extra extend eye face fail fall familiar fast favorite favourite fear
fill fit fix flow focus follow form formal format formulate free french frequent future gather generate german goal
grammar group grow haiku half happening hashtag head headline heart heavy high hit identify imagine impact improve
improvement include increase indicate informal inform information input intend introduce introduction involve japanese
joke jump key know large laugh layout leave left length letter level life light limit line list live local lose loud
love low main major manage manner mark maximum message meet meeting mess method middle minimum miss mistake modify
name narrow natural neat needed negative nervous normal number object offer opposite option options order original
outline output outside overview page paragraph paragraphs paraphrase paste pattern pause pay perform period personal
phrase piece plain play poem point polish polite politely popular position positive post prefer prepare present
pretend process produce professional progress proofread proper proposal propose prove provide pull purpose push
quality quote raise random range rank rate read rearrange recipe recommend recommendation reduce refer reformat
rephrase rename repeat replace report request require research respond response rest result return review reword
rewrite rough rule run sad save scale scenario search section see select send sentence sentences separate series
serious sharp shorten shorter show shut sign sit situation size skip slow slowly smooth solution solve song sort
spanish special spell spelling spend split stand standard state story strange strategy strong structure style subject
succeed suggest suggestion suit sum summarise summarize summary surprise switch synonym system table task term text
theme tidy tip title tone tool top touch track trade translate translation trick trip trouble trust tweet type typical
unique unit usage value variant version view visit voice walk wall warm watch weak weather weird wide win wise word
words wording write writing young yourself zero chinese italian portuguese russian language four five six seven eight
nine ten hundred thousand million dozen minus plus monday tuesday wednesday thursday friday saturday sunday rain sunny
cold hot snow windy coffee tea lunch dinner breakfast beer pizza cake drink eat hungry sleep nap bed vacation holiday
party movie music game football traffic def class function import self true false null none void int str string float
bool boolean dict tuple array const var lambda async await elif else except print args kwargs init stdin stdout stderr
src lib usr bin tmp home py js ts tsx html css json yaml toml md txt http https www com org site packages traceback
exception attribute undefined expected unexpected argument arguments parameter variable loop library code snippet pros
cons emoji emojis catchy limerick sonnet rhyme lyrics verse fable friendship happiness regular regex expression hint
hints docstring docstrings programmer coder developer twenty thirty forty fifty sixty seventy eighty ninety first
quarter percent percentage optimisation optimization readable readability efficient faster cleaner elegant succinct
bullet-point heading headings subtitle caption slogan tagline blog newsletter linkedin resume cv memo thesis abstract
chapter adjective adverb verb noun pronoun comma apostrophe typo typos punctuation capitals lowercase uppercase bold
italic italics dutch swedish danish norwegian finnish greek turkish arabic hindi korean mandarin latin british
american square root multiply multiplied subtract equation formula calculate calculation compute kilometers kilometres
miles meters metres inches pounds celsius fahrenheit dollars euros recursion recursive iterate iteration algorithm
syntax compile compiler runtime stack stacktrace heap pointer thread sync console terminal shell bash zsh prompt
refactoring readme changelog lint linter formatter imports exports decorator generator iterator endpoint payload
backend frontend csv sql query queries insert update delete join simulate roleplay role persona expert teacher
brainstorm ideas concept concepts analogy metaphor anecdote quiz riddle trivia fun fact facts train delayed cloudy
sunshine storm fog chilly heat freezing humid umbrella tasty delicious yummy snack dessert chocolate pasta wine juice
sandwich salad soup
"""

_ENGLISH_SOME = """
account action address age agent agreement air animal apartment app application area arm art author baby bag ball bank
bar bath beach bill bird birthday black blood blue board boat body book boss boy brain bread brother brown budget
building bus business button buy camera camp car card cat chair chapter check child church city client clock cloud
coat college color colour command community company computer concert conference contact content contract control cook
corner cost country course cousin crash credit cup customer dad dance dark data database date daughter dead deadline
death decision degree delete deliver delivery department design desk device directory disk doc doctor document dog
door dream dress drive driver ear earth education energy engine engineer environment error evidence exam exercise
family farm father feature feedback field fight figure film fire fish floor flower fly folder food foot forest garden
gas gift girl glass government green grey guest guide hair health history hobby hospital hotel house husband ice image
industry install internet interview issue item jacket job kid kitchen knee knowledge lady lake land laptop laugh law
learn leg lesson library link log machine mail man manager map market marry math meal measure meat medicine member
memory menu metal milk minister model module mom money mother mountain mouth museum nature neighbor neighbour network
news newspaper nose notes nurse ocean office oil package paint pair paper parent park parser partner password path
patient payment pen pet phone photo picture plane plant plate police policy pool power president price print printer
product profile program project public purchase query race radio reader recipe record red release relationship rent
repair repository request restaurant ride ring river road rock roof room row safe sale salt school science screen
script sea season seat server service share shirt shoe shop show sister site skill skin sky society software son
speech sport spring staff stage star station store street student study suit summer sun swim target teach teacher team
technology test ticket tire tour town toy traffic train training travel tree truck uncle university upgrade user
vacation village wall war warning wash water wear website wedding white wife wind window winter woman wood worker
workshop world yard yellow build commit branch merge deploy debug file files tests python java javascript rust linux
windows docker git api bug config configuration docs documentation christmas battery hurt adult airport album alarm
ankle anniversary apple archive army artist athlete aunt autumn bakery band basket beef bicycle bike blanket bone
bottle bowl bridge butter cable calendar candle carpet castle ceiling cell cheese chemical cherry chicken cinema
circle clinic coast code coin comic corn cottage cream crew crowd crown cycle dentist diary diet dinosaur dish dollar
drawer drum duck dust egg elephant email enemy entrance envelope equipment euro event factory fan farmer fashion fence
festival fever finger flag flight flour fork fruit furniture gallery garage gate gold grandfather grandma grandmother
grandpa grape grass guitar gym hammer hat helmet hero hill honey horse interviewer jeans journey judge juice key king
kiss knife lamp laundry lawyer leaf leather lemon lens license lion lip luggage lunch magazine mask mate mattress
mirror mobile monkey moon mosquito motor mouse muscle musician nail neck needle nephew niece nest noise novel nut
onion orange orchestra oven owner painting pan parcel party passport pasta pencil pepper piano picnic pig pillow pilot
pipe planet pocket poet politician pond potato priest prison queen rabbit railway rat refrigerator religion rice robot
rocket rope rose rug sail salad sand sauce scarf scientist sculpture shadow sheep shelf ship shoulder shower silver
singer sink skirt sleeve snake soap soccer sock sofa soil soldier soup spider spoon statue steel stomach stone storm
stove stream sugar suitcase swimming table tail tank tape tax taxi tea telephone television tennis tent theater
theatre throat tiger tomato tongue tooth towel tower trousers trumpet tube turtle twin uniform union valley van
vegetable vehicle violin virus waiter wallet wheel whale wing wolf wool wound wrist yoga zoo
"""

_GERMAN_NOTHING = """
aber abend abends ach alle allem allen aller alles als also am an andere anderen anders anfang auch auf aus bald bei
beim bekommen besser best bestimmt bin bis bisher bisschen bist bleiben brauche brauchen brauchst da dabei dafur damit
danach dann daran darauf darf darum das dass davon dazu dein deine deinen deiner dem den denke denken denn der des
deshalb dich die dies diese diesem diesen dieser dieses doch dort du durch durfen eben eher eigentlich ein eine einem
einen einer eines einfach einige einmal ende endlich er erst erstmal es etwas euch euer fallt fast fertig finde finden
frage fragen freue fruh fur ganz gar geben gegen geh gehe gehen geht genug gerade gerne gern gesagt gestern gib gibt
glaube gleich gut gute guter gutes hab habe haben hast hat hatte hatten helfen hier hilfe hilf hin hoffe ich ihm ihn
ihnen ihr ihre im immer in ins irgendwie ist jede jeden jeder jedes jemand jetzt jo kann kannst kein keine keinen klar
klasse klingt komme kommen kommt konnen konnte konntest konntet kurz kurzer lange lass lassen leider letzte letzten
leute los mache machen macht machst mag mal man manchmal mehr mein meine meinem meinen meiner meinst mich mir mit
moglich mochte mochten moment morgen morgens muss mussen musste na nach nachher nachmittag nachste nachsten nacht
naturlich neben nehmen nett neu neue nicht nichts nie noch nochmal normal nun nur ob oder ohne okay paar passt perfekt
probleme problem recht richtig sagen sagst sagt schade schau schauen schlecht schnell schon schone schonen sehe sehen
sehr sein seine seit selbst sich sicher sie siehst sind so sofort soll sollen sollte sollten sonst spater stimmt super
tage tagen tun uber uberhaupt um und ungefahr uns unser unsere unten unter viel viele vielen vielleicht vom von vor
vorher wahrscheinlich wann war ware waren warte warten warum was weg wegen weil weiss weisst weiter weitere
weitermachen welche welchen welcher welches wem wen wenn wer werde werden wie wieder will willst wir wird wirklich
wissen wo woche wochen wochenende woher wohin wohl wollen wollte worden wurde wurden wunderbar wunsche zeit zu zuerst
zum zur zuruck zusammen zwar zwei zwischen heute erinnerst erinnere sag grad halt hattest hoflich freundlich cool eins
guckst guck schonmal gruess erfolg spass feierabend geholfen verstehe versteh verstanden versteht erklaren aha achso
jawohl jep joa genauso ebenfalls gleichfalls ebenso naja tja hm schlafen geschlafen aufstehen frohe frohes frohlichen
gluckwunsch herzlichen wunsch kaputt krank gesund lustig blod doof dumm entschuldige verzeihung sorry stor store
storen stort beeil eilig dringend bitteschon willkommen hatt hattet sodass trotzdem allerdings ausserdem namlich
zumindest mindestens hochstens ziemlich echt total absolut etwa circa anfangen aufhoren fortfahren fortsetzen beginnen
stopp stop abbrechen pause interessant spannend wichtig falsch egal klappt geklappt funktioniert lauft gefallt
gefallen liebsten lieber hoffentlich gottseidank zufallig eventuell moglicherweise ehrlich ehrlichgesagt ahnung
bescheid vorhin neulich soeben demnachst ubermorgen vorgestern jahr jahre monate minute minuten sekunde sekunden
erzahl erzahle erzahlen mitteilen nennen genannt heisst bedeutet meint gemeint brauch braucht wunscht gernegeschehen
freut frohlich
"""

_GERMAN_LITTLE = """
antwort antworte antworten aufgabe beispiel beispiele beschreib beschreibe brief erklar erklare erklaren ersetze
formatiere formulier formuliere formulieren franzosisch englisch deutsch spanisch fass fasse zusammenfassen
zusammenfassung folgende folgenden gedicht generiere geschichte grund idee ideen korrigier korrigiere korrigieren
kurze kurzen liste nachricht nenne punkte satz satze satzen schlag schreib schreibe schreiben text texte thema titel
ubersetz ubersetze ubersetzen umformulieren umschreiben verbesser verbessere verbessern verstehe vergleich vergleiche
vorschlag vorschlage wort worte wetter regen kaffee essen hunger mude urlaub monat jahr jahre uhr minuten stunde
stunden montag dienstag mittwoch donnerstag freitag samstag sonntag drei vier funf kurzfassung stichpunkte ton witz
unten oben abschnitt absatz absatze anschreiben mails rechtschreibung grammatik wandle andere andern kurzer langer
einfacher besser umschreib lustiges lustigen kreativ tabelle stichworte herbst fruhling sommer winter sechs sieben
acht neun zehn gruppe programm funktion fehler datei klasse methode
"""

_SPANISH_NOTHING = """
a acuerdas acuerdo adelante ademas ah ahi ahora al algo alguien algun alguna algunas algunos alli antes apenas aqui
asi aun aunque ayer ayuda ayudame ayudar bastante bien bueno buena buen cada casi claro como con conmigo contigo cosa
cosas creo crees cual cuales cualquier cuando cuanto cuanta cuantos da dale dame de debe deberia debo decir decirme
del demas demasiado dentro desde despues dia dias dices dime dio donde dos durante e el ella ellas ellos en encanta
encontrar entonces entre era eran eres es esa esas ese eso esos espera espero esta estaba estamos estan estar estas
este esto estos estoy estuvo etcetera excelente facil falta favor feliz fin fue fueron fui genial gran grande gusta
gustaria gusto ha haber habia hablamos hablar hace hacen hacer haces hacia hago han hasta hay haz he hemos hola hoy
igual ir jaja jajaja la las le les listo llamo lo los luego lugar manana mas me mejor menos mi mia mientras mio mis
misma mismo momento mucha muchas mucho muchos muy nada nadie necesito necesita necesitamos ni ningun ninguna ninguno
no noche noches nos nosotros nuestra nuestro nueva nuevo nunca o os otra otras otro otros para parece pasa paso pero
perfecto perfecta poco podemos poder podria podrias pone poner por porque posible pregunta primera primero
probablemente problema pronto puede pueden puedes puedo pues que quien quienes quiere quieres quiero quisiera quiza
quizas rapido razon realmente recuerda recuerdas recuerdo recordar saber sabes se sea seguir seguimos seguro semana
ser seria si sido siempre siento sigue sin sino sobre somos son soy su super supongo sus tal tambien tampoco tan tanto
tarde tardes te tenemos tener tengo ti tiempo tiene tienen tienes toda todas todavia todos trata tu tus un una unas
uno unos usted ustedes va vamos van vas veces ver vez voy y ya yo oye mira venga estupendo entiendo entiendes entender
entendido comprendo comprender explicas explicarmelo perdona perdone disculpa disculpe molestar molesto molestia sirve
servido sirvio ayudado ayudo gracia vuelvo volver vuelta espere esperame empezar empezamos terminar terminado acabar
acabo parar contento triste cansado enfermo loco tonto divertido gracioso increible maravilloso estupenda fantastico
raro rara importante interesante verdad verdadero mentira cumpleanos navidad saludo abrazo beso besos querido querida
senor senora amigo amiga amigos buenas vaya anda hazlo hazme dimelo damelo ponlo cambialo dejalo olvidalo olvide
olvidado acaso ojala anoche anteayer pasado proxima proximo siguiente ultimo ultima semanas meses suficiente demasiada
cualquiera alguno cuyo cuya mediante segun contra estaria habria tendria haria diria iria sera seran estara estaran
tendra hara dira ire iremos
"""

_SPANISH_LITTLE = """
cambia cambiar carta correo corrige corregir chiste crea cuento cuentame describe educada educado ejemplo ejemplos
escribe escribir escribeme explica explicame explicar espanol espanola ingles frances aleman frase frases haz idea
ideas lista manera mensaje parrafo parrafos poema pon punto puntos redacta reescribe reescribir resume resumen resumir
sugiere tema texto tono traduce traducir traduccion titulo palabra palabras corto corta formal amable mejora mejorar
tiempo lluvia comer hambre cansado cansada vacaciones mes ano anos hora horas minuto minutos lunes martes miercoles
jueves viernes sabado domingo tres cuatro cinco formato comparar compara diferencia siguiente anterior resumeme
adivinanza chistes titulos oracion oraciones gramatica ortografia codigo funcion error archivo clase metodo prueba
pruebas otono primavera verano invierno seis siete ocho nueve diez tabla columnas
"""

_FRENCH_NOTHING = """
a ai aide aider aiderais aimerais ainsi alors apres as assez attends au aucun aucune aujourd hui aura aurais aussi
autre autres aux avais avait avant avec avez avoir avons beaucoup bel besoin bien bientot bon bonne bonjour bref ca
car ce ceci cela celle celui certain certes ces cet cette chaque chercher chez chose choses comme comment contre cool
crois d dans de deja demain depuis dernier derniere des desolee deux devrais devrait dire dis dit dois doit donc donne
donner dont du elle elles en encore enfin ensuite entre envie es est et etaient etait etant etc ete etes etre eu eux
excellent exactement facile faire fais fait faites fallait faut fin fois generalement genial gros hein hier ici idee
il ils j jamais je jour journee jours juste l la laisse le les leur leurs lequel laquelle lui m ma maintenant mais mal
matin me meme mes merci mieux moi moins moment mon monde mot n ne ni nos notre nous nouveau nouvelle nuit on ont ou
oui par parce parfait parfois parle parler part pas passe pense penses pensais petit petite peu peut peux plait plus
plusieurs plutot possible pour pourquoi pourrais pourrait pouvez pouvoir premier prends pres probablement probleme
puis puisque qu quand quel quelle quelles quelqu quelque quelques quels question qui quoi rappelle rappeler rapidement
rien s sa sais sait savez savoir se sera serait ses seul seulement si sinon soir soiree soit sommes sont sous souvent
souviens suis super sur sympa t ta tant tard te tel telle tes toi ton top toujours tous tout toute toutes tres trop
trouve trouver tu un une vais vas va vers veut veux viens vient vite voici voir vois voudrais voulais vous vrai
vraiment vu y allons allez salut continuons continuer semaine dimanche week veuillez svp stp s'il comprends comprend
comprendre compris repeter repete revenir reviens revient derange deranger excuse excusez pardon rire drole desole
pardonne remercie remercier disons dites croire sembler semble content contente triste malade fatiguee fou folle bete
interessant important incroyable magnifique chouette bizarre faux verite dommage heureusement malheureusement
evidemment joyeux joyeuse anniversaire noel felicitations bravo bisou bises cher chere chers amicalement cordialement
monsieur madame ami amis amie commencer commence commencons finir fini terminer termine arreter arrete attendre
attendez patience pause reprendre reprenons apres-demain lendemain prochain prochaine semaines mois annee aidez
aidez-moi aidee servi service rendu utile pratique dessus dessous ci la-bas pareil autant davantage serais seraient
aurait auraient ferais ferait dirais irai iront seront auront feras fera feront quoique lorsque tandis afin sauf selon
malgre envers durant pendant presque surtout oublie oublier oublies souvenir souvenez rappelez rappelles
"""

_FRENCH_LITTLE = """
allemand anglais espagnol francais ajoute ameliore ameliorer blague comparer conte corrige corriger courriel crois
cree decris ecris ecrire ecrit exemple exemples explique expliquer explication fais formel histoire idee idees lettre
liste maniere mots paragraphe paragraphes phrase poeme poli polie poliment propose reformule reformuler redige rediger
reponse resume resumer sujet suggere texte titre ton traduire traduis traduction courte pluie manger faim fatiguee
vacances mois an ans annee heure heures minute minutes lundi mardi mercredi jeudi vendredi samedi trois quatre cinq
ci-dessus ci-dessous suivant suivante precedent orthographe grammaire fonction erreur fichier classe methode automne
printemps ete hiver six sept huit neuf dix colonnes devinette
"""

_ASKING = """
who whose whom what when where which how why wer wen wem wessen wann wo wohin woher wie warum wieso welche welcher
welches quien quienes cuando donde adonde cual cuales cuanto cuanta cuantos cuantas qui quoi quand pourquoi quelle
quelles combien
"""

#: Words that a question begins with; none is something else in another of the languages, as `was` is.
ASKING = frozenset(_ASKING.split())
#: Words that tell nothing, little and some: those of other languages, courtesy, and those of English, which count where
#: a word is of several.
LISTS = (
    (f"{_GERMAN_NOTHING}{_SPANISH_NOTHING}{_FRENCH_NOTHING}", f"{_GERMAN_LITTLE}{_SPANISH_LITTLE}{_FRENCH_LITTLE}", ""),
    (_COURTESY, "", ""),
    (_ENGLISH_NOTHING, _ENGLISH_LITTLE, _ENGLISH_SOME),
)
#: Characters of Chinese that grammar, courtesy and talk are made of, and of Japanese that words of such are.
CHINESE = (
    "的了是我你您他她它们在有和就不也都很到说要去会着没看好这那吗呢吧啊呀哦嗯请谢帮想知道什么怎哪谁为让给把被从对"
    "与或但而如果因所以可能应该需还再又才只最更比已经过之其此些个一二三两几多少时候现今明昨天早晚上下午里后前来起"
    "出做用得地吃喝觉告诉问题回答句话写翻译改成总结解释介绍篇段文章意思谈聊继续开始束完行错真太非常棒哈辛苦麻烦客"
    "气见关系打算记样种点件事儿嘛喔唉周末休息累困"
)
JAPANESE = "今日明昨私僕俺君様何時分前後事物方上下言思見行来出入大丈夫願致申訳翻文章要約説書教質問答続終始次回感謝度疲"
