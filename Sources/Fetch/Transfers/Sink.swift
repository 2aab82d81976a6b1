// Where a body goes. One sink serves all attempts of a transfer; it is called by one thread at a time.

import Foundation
import Synchronization
import URLLoading

/// Takes a body.
protocol Sink: AnyObject, Sendable {
    /// Adds what the request must say because of what is there already. An attempt begins, with patience of its own.
    func prepare(_ request: inout URLRequest, _ patience: Patience) throws(FetchError)
    /// An answer that is to be kept has begun; `head` is written before the body.
    func begin(_ response: URLResponse, head: String?) throws(FetchError)
    /// An answer has come of which only the head is wanted, for a sink that shows it at once.
    func show(head: String) throws(FetchError)
    /// The next bytes.
    func write(_ data: Data) throws(FetchError)
    /// All bytes have come.
    func finish() throws(FetchError)
    /// No more will come: says what is left, if anything is.
    func fail() -> String?
    /// Bytes that are there from before the answer's first.
    var offset: Int64 { get }
    /// Whether another attempt could begin now.
    var canTryAgain: Bool { get }
    /// Where the body is; nil for standard output.
    var path: String? { get }
}

extension Sink {
    // A file is there whole or not at all.
    func show(head: String) throws(FetchError) {}
}

/// Writes to standard output while the body comes.
final class StandardOutput: Sink {
    private struct State {
        /// How many bytes of the body have been written.
        var length = 0
        var hasWrittenHead = false
        var isExplicit: Bool
        /// What indents and colours the body, where it is JSON and goes to a terminal.
        var printer: PrettyJSON?
        var patience = Patience()
    }

    private let style: OutputStyle

    private let state: Mutex<State>

    /// `isExplicit` where the user has named it, and wants even bytes that a terminal cannot show.
    init(isExplicit: Bool, style: OutputStyle) {
        state = Mutex(State(isExplicit: isExplicit))
        self.style = style
    }

    func prepare(_ request: inout URLRequest, _ patience: Patience) throws(FetchError) {
        state.withLock { $0.patience = patience }
    }

    func begin(_ response: URLResponse, head: String?) throws(FetchError) {
        if let head { try show(head: head) }
        guard style.formats || style.paint != Paint(isOn: false), response.isJSON else { return }
        state.withLock { $0.printer = PrettyJSON(style.paint, indents: style.formats) }
    }

    func show(head: String) throws(FetchError) {
        let patience = state.withLock { state in
            state.hasWrittenHead = true
            return state.patience
        }
        // A head is text, and may be meant to do something to a terminal.
        let shown =
            Terminal.showsOutput
            ? head.split(separator: "\n", omittingEmptySubsequences: false).map { VisibleText.of(String($0)) }
                .joined(separator: "\n") : head
        try Terminal.put(Data(style.paint.head(shown).utf8), patience)
    }

    func write(_ data: Data) throws(FetchError) {
        // The body's beginning tells, in however many pieces it comes.
        let unseen = state.withLock { state in
            defer { state.length += data.count }
            return state.isExplicit ? 0 : max(0, 2048 - state.length)
        }
        if unseen > 0, Terminal.showsOutput, data.prefix(unseen).contains(0) {
            throw FetchError(
                .cannotWrite, "the body is no text, and would confuse the terminal",
                advice: "-o FILE keeps it, -o - shows it all the same")
        }
        let (printed, patience) = state.withLock { ($0.printer?.print(data), $0.patience) }
        try Terminal.put(printed.map { Data($0) } ?? data, patience)
    }

    func finish() throws(FetchError) {
        let (rest, patience) = state.withLock { ($0.printer?.finish(), $0.patience) }
        if let rest { try Terminal.put(Data(rest), patience) }
    }

    func fail() -> String? { nil }

    var offset: Int64 { 0 }

    var canTryAgain: Bool { state.withLock { $0.length == 0 && !$0.hasWrittenHead } }

    var path: String? { nil }
}

extension URLResponse {
    /// Whether the body says that it is JSON, one value or one to a line.
    fileprivate var isJSON: Bool {
        let type = mimeType?.lowercased() ?? ""
        return type.hasSuffix("+json")
            || ["application/json", "text/json", "application/x-ndjson", "application/jsonl"].contains(type)
    }
}
