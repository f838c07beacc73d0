"""Facts of a household in many languages, and what is asked for them. Invented."""

from typing import NamedTuple


class Fact(NamedTuple):
    name: str
    description: str
    content: str


def _facts(text: str) -> list[Fact]:
    return [Fact(*map(str.strip, line.split("|"))) for line in text.strip().splitlines()]


def _asked(text: str) -> dict[str, str]:
    pairs = [line.split("→") for line in text.strip().splitlines()]
    return {query.strip(): name.strip() for query, name in pairs}


FACTS = {
    "english": _facts("""
        Guest network | the wifi password for guests | On the back of the router; it changes every spring.
        Luna's vet | who looks after the cat | Dr. Moreno next to the bakery; vaccinations in May.
        Deploying the shop | how the shop gets onto the server | Only from the main branch, after all tests have passed.
        Dental check-up | the next appointment | On the third of November at nine in the morning.
        Rubbish | when the bins are emptied | Glass on Tuesdays, paper on Fridays.
        Bread | our sourdough recipe | Half a kilo of flour; the dough rests overnight.
        Bicycle lock | the number of the lock | Written down beside the fridge.
        Backups | copies of the database | Every night at two, to another machine.
        Spare key | who keeps our house key | Our neighbour Iris keeps one.
        Grandma's birthday | a present for grandma | The fifteenth of September; she is fond of honey.
    """),
    "german": _facts("""
        Tierarzt | wer die Katze behandelt | Kater Moritz geht zu Frau Doktor Schäfer, Impfung im Mai.
        Gästenetz | Passwort für Gäste | Steht auf der Rückseite des Routers.
        Auslieferung | wie der Dienst auf den Server kommt | Nur vom Hauptzweig, wenn alle Prüfungen grün sind.
        Zahnarzt | nächster Termin | Am dritten November um neun Uhr.
        Müllabfuhr | wann der Müll abgeholt wird | Glas am Dienstag, Papier am Freitag.
        Brot | Rezept für Sauerteigbrot | Ein Pfund Mehl, der Teig ruht über Nacht.
        Fahrradschloss | Nummer des Fahrradschlosses | Notiert am Kühlschrank.
        Datensicherung | Sicherung der Datenbank | Jede Nacht um zwei auf einen anderen Rechner.
        Krankenversicherungskarte | wo sie aufbewahrt wird | In der Schublade im Flur, bei den Reisepässen.
        Ersatzschlüssel | wer ihn hat | Nachbar Weiß hat einen, ein zweiter liegt in der Garage.
        Omas Geburtstag | Geschenk für Oma | Am fünfzehnten September; sie mag Käsekuchen.
    """),
    "french": _facts("""
        Vétérinaire | qui soigne le chat | Le chat Félix va chez la docteure Lefèvre, vaccins en mai.
        Mot de passe | le mot de passe pour les invités | Écrit derrière la box.
        Déploiement | comment déployer le site | Seulement depuis la branche principale, après les essais.
        Dentiste | le prochain rendez-vous | Le trois novembre à neuf heures.
        Poubelles | quand passent les éboueurs | Le verre le mardi, le papier le vendredi.
        Pain | recette du pain maison | Une livre de farine, la pâte repose toute la nuit.
        Antivol | le code de l'antivol du vélo | Noté près du réfrigérateur.
        Sauvegardes | sauvegardes de la base de données | Chaque nuit à deux heures sur une autre machine.
        Clé de secours | qui a la clé de la maison | La voisine Thérèse en a une.
        Anniversaire de mamie | cadeau préféré de mamie | Le quinze septembre ; elle aime la crème brûlée.
    """),
    "spanish": _facts("""
        Veterinaria | quién cuida a la gata | La gata Nube va con la doctora Peña, las vacunas en mayo.
        Contraseña del wifi | la contraseña para invitados | Está escrita detrás del enrutador.
        Despliegue | cómo se publica la aplicación | Solo desde la rama principal, cuando pasan las pruebas.
        Dentista | la próxima cita | El tres de noviembre a las nueve de la mañana.
        Basura | cuándo recogen la basura | El vidrio los martes, el papel los viernes.
        Pan | receta del pan casero | Medio kilo de harina, la masa reposa toda la noche.
        Candado | el número del candado de la bicicleta | Anotado junto al frigorífico.
        Copias de seguridad | copias de la base de datos | Cada noche a las dos en otro ordenador.
        Llave de repuesto | quién tiene la llave de casa | La tiene Begoña, la vecina.
        Cumpleaños de la abuela | regalo para la abuela | El quince de septiembre; le gusta la miel de azahar.
    """),
    "turkish": _facts("""
        Veteriner | kediye kim bakıyor | Kedimiz Boncuk çarşıdaki Doktor Ayşe'ye gidiyor, aşısı mayısta.
        Kablosuz ağ şifresi | misafirler için şifre | Yönlendiricinin arkasında yazıyor.
        Sunucuya dağıtım | hizmeti sunucuya nasıl kurarız | Yalnızca ana daldan, testler geçince.
        Diş hekimi | bir sonraki diş randevusu | Üç kasım sabah dokuzda.
        Çöp | çöpler ne zaman toplanıyor | Cam salı günü, kâğıt cuma günü.
        Ekmek | ev ekmeği tarifi | Yarım kilo un, hamur bütün gece bekler.
        Bisiklet kilidi | bisiklet kilidinin numarası | Buzdolabının yanındaki notta.
        Yedekleme | veritabanının yedekleri | Her gece ikide başka bir makineye.
        Yedek anahtar | evin anahtarı kimde | Komşumuz Işıl Hanım'da bir anahtar var.
        Büyükannenin doğum günü | büyükanneye hediye | On beş eylül, balı çok sever.
    """),
    "vietnamese": _facts("""
        Bác sĩ thú y | ai chăm sóc con mèo | Mèo Mun đi khám ở phòng khám cạnh chợ, tiêm phòng vào tháng năm.
        Mật khẩu wifi | mật khẩu cho khách | Ghi phía sau bộ định tuyến.
        Triển khai | cách triển khai lên máy chủ | Chỉ từ nhánh chính, sau khi kiểm thử xong.
        Nha sĩ | lịch hẹn khám răng | Ngày ba tháng mười một, chín giờ sáng.
        Rác | ngày đổ rác | Thủy tinh thứ ba, giấy thứ sáu.
        Bánh mì | công thức bánh mì ở nhà | Nửa cân bột, ủ qua đêm.
        Khóa xe đạp | số của khóa xe đạp | Ghi cạnh tủ lạnh.
        Sao lưu | sao lưu cơ sở dữ liệu | Mỗi đêm lúc hai giờ sang máy khác.
        Chìa khóa dự phòng | ai giữ chìa khóa nhà | Cô Hoa hàng xóm giữ một chiếc.
        Sinh nhật bà | quà sinh nhật cho bà | Ngày mười lăm tháng chín, bà thích mật ong.
    """),
    "russian": _facts("""
        Ветеринар | кто лечит кошку | Кошку Мурку лечит доктор Орлова, прививки в мае.
        Пароль от вайфая | пароль для гостей | Записан на задней стенке роутера.
        Развёртывание | как выкатить сервис на сервер | Только из главной ветки, когда прошли все тесты.
        Зубной врач | когда к зубному | Третьего ноября в девять утра.
        Мусор | когда вывозят мусор | Стекло забирают по вторникам, бумагу по пятницам.
        Хлеб | рецепт домашнего хлеба | Пятьсот граммов муки, тесто стоит всю ночь.
        Велосипед | код замка велосипеда | Код записан возле холодильника.
        Резервные копии | копии базы данных | Каждую ночь в два часа копируются на другой компьютер.
        Запасной ключ | у кого ключ от квартиры | Ключ хранит соседка Анна Петровна.
        День рождения бабушки | что подарить бабушке | Пятнадцатого сентября; она любит мёд и ёлочные игрушки.
    """),
    "greek": _facts("""
        Κτηνίατρος | ποιος φροντίζει τη γάτα | Η γάτα Ψίνα πηγαίνει στη γιατρό Μαρία, εμβόλιο τον Μάιο.
        Κωδικός του δικτύου | ο κωδικός για τους επισκέπτες | Γραμμένος πίσω από τον δρομολογητή.
        Εγκατάσταση στον διακομιστή | πώς ανεβαίνει η υπηρεσία | Μόνο από τον κύριο κλάδο, μετά τις δοκιμές.
        Οδοντίατρος | το επόμενο ραντεβού για τα δόντια | Τρεις Νοεμβρίου στις εννέα το πρωί.
        Σκουπίδια | πότε μαζεύουν τα σκουπίδια | Γυαλί την Τρίτη, χαρτί την Παρασκευή.
        Ψωμί | συνταγή για σπιτικό ψωμί | Μισό κιλό αλεύρι, το ζυμάρι περιμένει όλη νύχτα.
        Ποδήλατο | η κλειδαριά του ποδηλάτου | Ο αριθμός είναι δίπλα στο ψυγείο.
        Αντίγραφα ασφαλείας | αντίγραφα της βάσης δεδομένων | Κάθε νύχτα στις δύο σε άλλο υπολογιστή.
        Εφεδρικό κλειδί | ποιος έχει το κλειδί του σπιτιού | Το έχει η γειτόνισσα Ελένη.
        Γενέθλια της γιαγιάς | δώρο για τη γιαγιά | Δεκαπέντε Σεπτεμβρίου, της αρέσει το μέλι.
    """),
    "arabic": _facts("""
        طبيب القطة | من يعالج القطة | تذهب القطة لولو إلى الطبيبة سمر قرب المخبز، والتطعيم في مايو.
        كلمة مرور الشبكة | كلمة المرور للضيوف | مكتوبة خلف جهاز التوجيه.
        نشر الخدمة | كيف ننشر الخدمة على الخادم | من الفرع الرئيسي فقط بعد نجاح الاختبارات.
        طبيب الأسنان | موعد الأسنان القادم | في الثالث من نوفمبر الساعة التاسعة صباحا.
        النفايات | متى تجمع النفايات | الزجاج يوم الثلاثاء والورق يوم الجمعة.
        الخبز | وصفة الخبز المنزلي | خمسمئة غرام من الطحين وعجين يرتاح ليلة كاملة.
        قفل الدراجة | رقم قفل الدراجة | الرقم مكتوب بجانب الثلاجة.
        النسخ الاحتياطي | نسخ قاعدة البيانات | كل ليلة في الساعة الثانية إلى حاسوب آخر.
        المفتاح الإضافي | من عنده مفتاح البيت | المفتاح عند الجار أحمد.
        عيد ميلاد الجدة | هدية الجدة | الخامس عشر من سبتمبر، وهي تحب العسل.
    """),
    "hebrew": _facts("""
        הווטרינר של החתול | מי מטפל בחתול | מיצי הולכת לדוקטור לוי ליד המאפייה, חיסון במאי.
        סיסמת הרשת | הסיסמה לאורחים | כתובה מאחורי הנתב.
        פריסה לשרת | איך פורסים את השירות | רק מהענף הראשי, אחרי שכל הבדיקות עברו.
        רופא שיניים | התור הבא לשיניים | שלושה בנובמבר בתשע בבוקר.
        אשפה | מתי אוספים את האשפה | זכוכית ביום שלישי, נייר ביום שישי.
        לחם | מתכון ללחם ביתי | חצי קילו קמח, הבצק נח כל הלילה.
        מנעול האופניים | המספר של המנעול | רשום ליד המקרר.
        גיבוי | גיבוי של מסד הנתונים | כל לילה בשתיים למחשב אחר.
        מפתח רזרבי | אצל מי המפתח של הבית | אצל השכנה רותי.
        יום הולדת לסבתא | מתנה לסבתא | חמישה עשר בספטמבר, היא אוהבת דבש.
    """),
    "hindi": _facts("""
        बिल्ली का डॉक्टर | बिल्ली की देखभाल कौन करता है | मीनू को बाज़ार के पास डॉक्टर शर्मा देखते हैं, टीका मई में।
        वाईफाई पासवर्ड | मेहमानों के लिए पासवर्ड | राउटर के पीछे लिखा है।
        सर्वर पर तैनाती | सेवा कैसे तैनात होती है | केवल मुख्य शाखा से, जब सारे परीक्षण पास हों।
        दाँत का डॉक्टर | दाँतों की अगली जाँच | तीन नवंबर, सुबह नौ बजे।
        कूड़ा | कूड़ा कब उठता है | काँच मंगलवार को, कागज़ शुक्रवार को।
        रोटी | घर की डबल रोटी | पाँच सौ ग्राम आटा, रात भर रखना है।
        साइकिल का ताला | ताले का नंबर | फ्रिज के पास पर्ची पर है।
        बैकअप | डेटाबेस की प्रतियाँ | हर रात दो बजे दूसरी मशीन पर।
        अतिरिक्त चाबी | घर की चाबी किसके पास है | पड़ोसी गुप्ता जी के पास एक चाबी है।
        दादी का जन्मदिन | दादी के लिए उपहार | पंद्रह सितंबर, उन्हें शहद पसंद है।
    """),
    "bengali": _facts("""
        বিড়ালের ডাক্তার | বিড়ালের দেখাশোনা কে করে | মিনি বাজারের পাশে ডাক্তার সেনের কাছে যায়, টিকা মে মাসে।
        ওয়াইফাই পাসওয়ার্ড | অতিথিদের পাসওয়ার্ড | রাউটারের পিছনে লেখা আছে।
        সার্ভারে স্থাপন | সার্ভারে কীভাবে তোলা হয় | শুধু মূল শাখা থেকে, পরীক্ষা শেষ হলে।
        দাঁতের ডাক্তার | পরের দাঁতের পরীক্ষা | তিন নভেম্বর সকাল নয়টায়।
        ময়লা | ময়লা কবে নেয় | কাচ মঙ্গলবার, কাগজ শুক্রবার।
        রুটি | বাড়ির রুটির প্রণালী | আধ কেজি ময়দা, সারা রাত রাখতে হয়।
        সাইকেলের তালা | সাইকেলের তালার নম্বর | ফ্রিজের পাশে লেখা।
        ব্যাকআপ | ডেটাবেসের অনুলিপি | প্রতি রাতে দুটোয় অন্য যন্ত্রে।
        বাড়তি চাবি | বাড়ির চাবি কার কাছে | পাশের বাড়ির রহিম চাচার কাছে একটা চাবি আছে।
        দিদার জন্মদিন | দিদার উপহার | পনেরো সেপ্টেম্বর, মধু ভালোবাসেন।
    """),
    "tamil": _facts("""
        பூனை மருத்துவர் | பூனையை யார் பார்க்கிறார் | மணியை சந்தை அருகே உள்ள மருத்துவர் பார்க்கிறார்.
        வைஃபை கடவுச்சொல் | விருந்தினர்களுக்கான கடவுச்சொல் | திசைவியின் பின்புறம் எழுதப்பட்டுள்ளது.
        சேவையகம் | சேவையகத்தில் எப்படி நிறுவுவது | முதன்மைக் கிளையிலிருந்து மட்டும், சோதனைகள் முடிந்த பிறகு.
        பல் மருத்துவர் | அடுத்த பல் பரிசோதனை | நவம்பர் மூன்று, காலை ஒன்பது மணி.
        குப்பை | குப்பை எப்போது எடுக்கப்படும் | கண்ணாடி செவ்வாய், காகிதம் வெள்ளி.
        ரொட்டி | வீட்டு ரொட்டி செய்முறை | அரை கிலோ மாவு, இரவு முழுவதும் ஊற வேண்டும்.
        மிதிவண்டி பூட்டு | மிதிவண்டி பூட்டின் எண் | குளிர்சாதனப் பெட்டி அருகே உள்ளது.
        காப்புப்பிரதி | தரவுத்தளத்தின் காப்புப்பிரதி | ஒவ்வொரு இரவும் இரண்டு மணிக்கு வேறு கணினிக்கு.
        மாற்றுச் சாவி | வீட்டுச் சாவி யாரிடம் | பக்கத்து வீட்டு ராமனிடம் ஒரு சாவி உள்ளது.
        பாட்டியின் பிறந்தநாள் | பாட்டிக்கு பரிசு | செப்டம்பர் பதினைந்து, தேன் பிடிக்கும்.
    """),
    "thai": _facts("""
        หมอแมว | ใครดูแลแมวของเรา | มะลิไปหาหมอข้างตลาด ฉีดวัคซีนเดือนพฤษภาคม
        รหัสผ่านไวไฟ | รหัสผ่านสำหรับแขก | เขียนไว้หลังเราเตอร์ เปลี่ยนทุกฤดูร้อน
        การติดตั้งระบบ | วิธีติดตั้งขึ้นเซิร์ฟเวอร์ | ติดตั้งจากสาขาหลักหลังทดสอบผ่านเท่านั้น
        หมอฟัน | นัดหมอฟันครั้งต่อไป | วันที่สามพฤศจิกายน เก้าโมงเช้า
        วันทิ้งขยะ | ทิ้งขยะวันไหน | ขยะรีไซเคิลเก็บวันอังคาร เศษอาหารเก็บวันศุกร์
        ขนมปัง | สูตรขนมปังที่บ้าน | แป้งห้าร้อยกรัม หมักไว้ข้ามคืน
        กุญแจจักรยาน | เลขล็อกจักรยาน | จดไว้ข้างตู้เย็น
        สำรองข้อมูล | สำรองฐานข้อมูลเมื่อไร | สำรองทุกคืนตอนตีสองไปอีกเครื่อง
        กุญแจสำรอง | ใครเก็บกุญแจบ้านสำรอง | คุณสมชายข้างบ้านเก็บไว้หนึ่งดอก
        วันเกิดคุณยาย | ของขวัญวันเกิดคุณยาย | สิบห้ากันยายน คุณยายชอบน้ำผึ้ง
    """),
    "chinese": _facts("""
        无线网络 | 客人用的无线密码 | 密码写在路由器背面，每年春天更换。
        小狗豆豆 | 谁给狗看病 | 豆豆由面包店旁边的莫医生照看，五月打疫苗。
        部署密钥 | 部署密钥放在哪里 | 部署密钥保存在保险库里，每季度轮换一次。
        牙医 | 下次看牙的时间 | 十一月三日上午九点，记得带医保卡。
        倒垃圾 | 什么时候收垃圾 | 可回收物星期二收，厨余星期五收。
        面包 | 做面包的配方 | 五百克面粉，三百五十克水，发酵一整夜。
        自行车锁 | 自行车锁的号码 | 记在冰箱旁边的纸条上。
        数据库备份 | 数据库多久备份一次 | 每天凌晨两点备份到另一台机器。
        备用钥匙 | 备用钥匙在谁那里 | 邻居王太太保管着一把。
        奶奶过生日 | 送给奶奶的礼物 | 农历八月十五，她喜欢桂花糕。
    """),
    "japanese": _facts("""
        黒猫の獣医 | 猫を診てもらう先生 | 黒猫のクロは駅前の森先生に診てもらう。予防接種は五月。
        無線LAN | 来客用のパスワード | ルーターの裏に書いてある。
        デプロイ | サーバーへのデプロイの手順 | テストが通ってから、メインブランチだけを出す。
        歯医者 | 次の予約 | 十一月三日の午前九時。診察券を忘れない。
        ごみの日 | ごみを出す曜日 | 燃えるごみは火曜日、資源ごみは金曜日。
        パンの作り方 | 家で焼くパン | 小麦粉五百グラム、水三百五十グラムで一晩寝かせる。
        自転車の鍵 | 自転車の鍵の番号 | 冷蔵庫の横のメモにある。
        バックアップ | データベースの保存 | 毎晩二時に別のマシンへ保存する。
        合鍵 | 合鍵を預けている人 | 隣の田中さんが合鍵を持っている。
        祖母の誕生日 | おばあちゃんへの贈り物 | 九月十五日。和菓子が好き。
    """),
    "korean": _facts("""
        고양이 병원 | 고양이를 돌보는 수의사 | 나비는 시장 옆 김 선생님에게 간다. 예방접종은 오월.
        와이파이 | 손님용 와이파이 비밀번호 | 공유기 뒤에 적혀 있다.
        배포 | 서버에 배포하는 방법 | 테스트가 끝난 뒤에 메인 브랜치에서만 배포한다.
        치과 | 다음 치과 예약 | 십일월 삼일 오전 아홉 시.
        쓰레기 | 쓰레기를 버리는 요일 | 재활용은 화요일, 음식물은 금요일.
        빵 | 집에서 굽는 빵 | 밀가루 오백 그램과 물을 섞어 하룻밤 둔다.
        자전거 자물쇠 | 자물쇠 번호 | 냉장고 옆 메모에 있다.
        백업 | 데이터베이스 백업 시각 | 매일 새벽 두 시에 다른 컴퓨터로 복사한다.
        여분 열쇠 | 열쇠를 맡긴 이웃 | 이웃 박 씨가 가지고 있다.
        할머니 생신 | 할머니께 드릴 선물 | 구월 십오일, 떡을 좋아하신다.
    """),
}

#: What is asked with the settings as they come.
QUERIES = {
    "english": _asked("""
        what is the guest wifi password → Guest network
        who vaccinates the cats → Luna's vet
        deployed the shop → Deploying the shop
        neighbours keeping keys → Spare key
        sourdough → Bread
        copying databases → Backups
        grandma honey → Grandma's birthday
    """),
    "german": _asked("""
        Versicherung → Krankenversicherungskarte
        Schlüssel → Ersatzschlüssel
        Kasekuchen für Oma → Omas Geburtstag
        mullabfuhr papier → Müllabfuhr
        KÜHLSCHRANK → Fahrradschloss
        Sicherung → Datensicherung
        Fahrrad → Fahrradschloss
        nachbar weiss → Ersatzschlüssel
        Sauerteig → Brot
    """),
    "french": _asked("""
        creme brulee → Anniversaire de mamie
        deployer le site → Déploiement
        cle de Therese → Clé de secours
        Lefèvre → Vétérinaire
        LEFEVRE → Vétérinaire
        refrigerateur → Antivol
    """),
    "spanish": _asked("""
        contrasena de invitados → Contraseña del wifi
        cumpleanos abuela → Cumpleaños de la abuela
        frigorifico → Candado
        la vecina Begona → Llave de repuesto
    """),
    "turkish": _asked("""
        misafir sifre → Kablosuz ağ şifresi
        ISIL HANIM → Yedek anahtar
        dis randevusu → Diş hekimi
        çarsidaki doktor → Veteriner
        yedekler → Yedekleme
    """),
    "vietnamese": _asked("""
        mat khau cho khach → Mật khẩu wifi
        khoa xe dap → Khóa xe đạp
        SAO LƯU dữ liệu → Sao lưu
        meo tiêm phòng → Bác sĩ thú y
        đổ rác → Rác
    """),
    "russian": _asked("""
        прививка кошке → Ветеринар
        пароли гостям → Пароль от вайфая
        елочная игрушка → День рождения бабушки
        развертывания → Развёртывание
        соседке ключи → Запасной ключ
        резервная копия → Резервные копии
    """),
    "greek": _asked("""
        γατες → Κτηνίατρος
        ΚΩΔΙΚΟΙ ΕΠΙΣΚΕΠΤΩΝ → Κωδικός του δικτύου
        κλειδια γειτονισσας → Εφεδρικό κλειδί
        το μελι → Γενέθλια της γιαγιάς
    """),
    "arabic": _asked("""
        القِطَّةُ → طبيب القطة
        مفتاح عند احمد → المفتاح الإضافي
        رقم دراجة → قفل الدراجة
        دراجات → قفل الدراجة
        وصفة خبز → الخبز
        عسل للجدة → عيد ميلاد الجدة
        طبيب الاسنان → طبيب الأسنان
    """),
    "hebrew": _asked("""
        סיסמה לאורח → סיסמת הרשת
        החתולים → הווטרינר של החתול
        המפתחות אצל השכנה → מפתח רזרבי
        דְּבַשׁ → יום הולדת לסבתא
        לחמים → לחם
    """),
    "hindi": _asked("""
        बिल्लियों का डॉक्टर → बिल्ली का डॉक्टर
        चाबियाँ किसके पास → अतिरिक्त चाबी
        कागज कब → कूड़ा
        दादी को शहद → दादी का जन्मदिन
        पासवर्डों → वाईफाई पासवर्ड
    """),
    "bengali": _asked("""
        বিড়াল → বিড়ালের ডাক্তার
        চাবি কার কাছে → বাড়তি চাবি
        মধু → দিদার জন্মদিন
        পাসওয়ার্ডের → ওয়াইফাই পাসওয়ার্ড
        উপহারটা → দিদার জন্মদিন
        সাইকেল → সাইকেলের তালা
        ডেটাবেস → ব্যাকআপ
    """),
    "tamil": _asked("""
        பூனைகளின் மருத்துவர் → பூனை மருத்துவர்
        சாவிகள் யாரிடம் → மாற்றுச் சாவி
        தேன் → பாட்டியின் பிறந்தநாள்
        பாட்டிக்காக பரிசுகள் → பாட்டியின் பிறந்தநாள்
    """),
    "thai": _asked("""
        แมว → หมอแมว
        ผ่านไวไฟ → รหัสผ่านไวไฟ
        น้ำผึ้ง → วันเกิดคุณยาย
        ล็อกจักรยาน → กุญแจจักรยาน
        ฐานข้อมูล → สำรองข้อมูล
        ฟัน → หมอฟัน
    """),
    "chinese": _asked("""
        狗 → 小狗豆豆
        密钥轮换 → 部署密钥
        备份到哪台机器 → 数据库备份
        桂花糕 → 奶奶过生日
        王太太的钥匙 → 备用钥匙
        糕 → 奶奶过生日
    """),
    "japanese": _asked("""
        猫 → 黒猫の獣医
        合鍵を持っている → 合鍵
        パンを焼く → パンの作り方
        資源ごみ → ごみの日
        ﾃﾞﾌﾟﾛｲの手順 → デプロイ
        鍵の番号 → 自転車の鍵
    """),
    "korean": _asked("""
        고양이는 누가 돌봐 → 고양이 병원
        떡 → 할머니 생신
        열쇠는 어디 → 여분 열쇠
        비밀번호 → 와이파이
        빵을 굽자 → 빵
        집 → 빵
        배포할 때 → 배포
    """),
}

#: What is asked when the settings say whose endings words have.
SPOKEN = {
    "german": _asked("""
        Versicherungen → Krankenversicherungskarte
        Impfungen → Tierarzt
        Kaesekuchen → Omas Geburtstag
        Schlüssel der Nachbarn → Ersatzschlüssel
        Nächte und Rechner → Datensicherung
        abgeholter Müll → Müllabfuhr
    """),
    "french": _asked("""
        déployés → Déploiement
        mamie préférait → Anniversaire de mamie
        cadeaux preferes → Anniversaire de mamie
        vétérinaires → Vétérinaire
        cles de secours → Clé de secours
    """),
    "russian": _asked("""
        прививка кошке → Ветеринар
        елочная игрушка → День рождения бабушки
        deployed the shop → Deploying the shop
        neighbours keeping keys → Spare key
    """),
}
