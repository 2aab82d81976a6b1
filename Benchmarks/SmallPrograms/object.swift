// A program with a class of Foundation's, any of them.

import Foundation

/// Nothing but an object.
final class Thing: NSObject {
    let number = 1
}

print(Thing().number)
