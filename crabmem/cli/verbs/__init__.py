"""The verbs of the command line: a module for each, called like it, in which `@verb` says where the help has it.

Nothing else lists a verb. What several of them share is in the modules beside this folder: a verb imports no other.
"""
