// The two ends of the conversation between a background session and the owner of its transfers, without saying
// how bytes travel: in one process they are the same values, between two they are frames on a UNIX-domain socket
// (`TransferDecoder`, `TransferMessage.frame`). `TransferMessages` tells the conversation.
//
// How it is used, by a program that has the owner in its own process:
//
//     let directory = try BackgroundDirectory(identifier: "com.example.downloads")
//     let owner = try TransferOwner(directory: directory)     // takes the lock; throws `.inUse` where it is taken
//     owner.connected(channel)                                // the program's way back
//     owner.received(.hello(hello), from: channel)            // answered on the channel by `.met` and `.welcome`, or by `.refused`
//     …
//     owner.disconnected(channel)                             // the transfers go on
//     owner.stop { … }                                        // they stop, to go on in another owner's hands
//
// The helper process does the same with a channel for each connection that its socket accepts. A program that has a
// helper connects to its socket (`RemoteOwner`), sends frames of `TransferCommand` and reads frames of `TransferEvent`.
//
// Must not know: sessions, sockets.

import URLLoadingPolicy

/// A program's end, as its owner sees it.
protocol TransferChannel: AnyObject, Sendable {
    /// Sends to the program, behind what was sent before. Called from any thread; must not wait, nor call the owner
    /// back before it returns. What cannot be sent any more is dropped: what matters is kept by the owner.
    func send(_ event: TransferEvent)

    /// Ends the conversation when everything has been sent.
    func close()
}

/// The owner's end, as a program sees it. All may be called from any thread; none waits for the network. They may write
/// journals, and so wait for the disk.
protocol TransferService: AnyObject, Sendable {
    /// A program has connected; nothing is sent before its `hello`.
    func connected(_ channel: any TransferChannel)

    /// A program says something. A channel that was refused or closed is not listened to.
    func received(_ command: TransferCommand, from channel: any TransferChannel)

    /// A program has gone, without a word or after one. What runs goes on (B10.2).
    func disconnected(_ channel: any TransferChannel)
}
