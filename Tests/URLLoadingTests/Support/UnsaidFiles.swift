// Files that the system makes when they are read.

import Foundation

/// Files that say another length than they have: none in /proc, a page in /sys, where there is one.
let unsaidFiles = ["/proc/version", "/sys/devices/system/cpu/online"].filter {
    FileManager.default.isReadableFile(atPath: $0)
}
