// The least that a program of Swift weighs.

print(CommandLine.arguments.count)
