// A program with what FoundationEssentials has. With `import Foundation` it weighs as much.

import FoundationEssentials

print(URL(string: CommandLine.arguments.last ?? "")?.host() ?? "–", Data([1, 2]).count, Date.now)
