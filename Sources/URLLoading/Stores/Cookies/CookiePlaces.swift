// Where the cookies of a program, and of a group of programs, lie on the disk: below the user's directory for data, in
// a folder of their own (B8.69).
//
// Must not know: what is in the files.

import Foundation
import URLLoadingSystem

/// The files of storages that outlive the process.
enum CookiePlaces {
    /// The file of this program; nil where there is no directory to have it in.
    static var ofProcess: SharedFile? {
        file(".cookies.shared", in: UserDirectories.folderOfProcess)
    }

    /// The file of a group; two groups never have the same.
    static func ofGroup(_ identifier: String) -> SharedFile? {
        file(".cookies.group", in: UserDirectories.folder(identifier))
    }

    private static func file(_ name: String, in folder: String) -> SharedFile? {
        UserDirectories.data.map { SharedFile(path: $0 + "/" + folder + "/" + name) }
    }
}
