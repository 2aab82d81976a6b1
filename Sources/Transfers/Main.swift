// urlloading-transfers: carries the transfers of a background session on, whatever becomes of the program that began
// them. Programs start it by themselves. docs/background.md tells what it does.

import URLLoading

/// The command.
@main
enum Main {
    static func main() {
        TransferHelper.run(CommandLine.arguments)
    }
}
