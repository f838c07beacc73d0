"""The verbs of the command line: a module for each, called like it, in which `@verb` says where the help has it.

Nothing else lists a verb. What several of them share is in the modules beside this folder; what two that belong
together share, as `undo` and `restore`, is in one of these.
"""
