// Stand-ins for swift-log, swift-metrics and swift-distributed-tracing: as much of their surface as docs/observing.md uses, under the
// same names, so that the code of that page is compiled without those packages. What they are told can be looked at.

import Foundation

/// What the stand-ins were told.
public final class StandInRecord: @unchecked Sendable {
    /// The process's.
    public static let shared = StandInRecord()
    private let lock = NSLock()
    // `lock` guards both.
    private var numbers: [String: Int64] = [:]
    private var finished: [Span] = []

    /// What each metric was set to last.
    public var metrics: [String: Int64] { lock.withLock { numbers } }
    /// The spans that have ended.
    public var spans: [Span] { lock.withLock { finished } }

    func set(_ name: String, _ value: Int64) { lock.withLock { numbers[name] = value } }
    func end(_ span: Span) { lock.withLock { finished.append(span) } }
}

// MARK: swift-log

/// Writes lines.
public struct Logger: Sendable {
    /// How important a line is.
    public enum Level: String, Sendable { case debug, info, warning, error }
    /// What a line is about.
    public typealias Metadata = [String: MetadataValue]
    /// A part of that.
    public enum MetadataValue: Sendable, Hashable { case string(String) }

    /// From where on lines are written.
    public var logLevel = Level.info
    private let write: @Sendable (Level, String, Metadata) -> Void

    /// A logger whose lines go to a closure.
    public init(write: @escaping @Sendable (Level, String, Metadata) -> Void) { self.write = write }

    /// Writes a line.
    public func log(level: Level, _ message: String, metadata: Metadata = [:]) { write(level, message, metadata) }
}

// MARK: swift-metrics

/// A number that goes up and down.
public struct Gauge: Sendable {
    private let name: String

    /// A gauge of this name.
    public init(label: String, dimensions: [(String, String)] = []) {
        name = label + dimensions.map { ",\($0)=\($1)" }.joined()
    }

    /// Sets it.
    public func record(_ value: Int) { StandInRecord.shared.set(name, Int64(value)) }
}

/// A number that only grows.
public struct Counter: Sendable {
    private let name: String

    /// A counter of this name.
    public init(label: String, dimensions: [(String, String)] = []) {
        name = label + dimensions.map { ",\($0)=\($1)" }.joined()
    }

    /// Lets it grow.
    public func increment(by amount: Int64) {
        StandInRecord.shared.set(name, (StandInRecord.shared.metrics[name] ?? 0) + amount)
    }
}

// MARK: swift-distributed-tracing

/// What is handed on from span to span.
public struct ServiceContext: Sendable {
    /// The identifiers of the trace and of the span.
    public var identifiers = (trace: UInt64.random(in: 1...(.max)), span: UInt64.random(in: 1...(.max)))
}

/// The side that a span is about.
public enum SpanKind: Sendable { case client, `internal` }

/// How a span has ended.
public struct SpanStatus: Sendable {
    /// The outcome.
    public enum Code: Sendable { case ok, error }
    /// The outcome.
    public let code: Code
    /// A status.
    public init(code: Code) { self.code = code }
}

/// A value of an attribute.
public enum SpanAttribute: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case string(String), int(Int)
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A number.
    public init(integerLiteral value: Int) { self = .int(value) }
}

/// A piece of work. Each stand-in is used by one task at a time, and only read once it has ended.
public final class Span: @unchecked Sendable {
    /// The name of the work.
    public let operationName: String
    /// What is handed on.
    public let context = ServiceContext()
    /// What is known of it.
    public var attributes: [String: SpanAttribute] = [:]
    /// How it has ended.
    public private(set) var status: SpanStatus?

    init(_ name: String) { operationName = name }

    /// Notes how it has ended.
    public func setStatus(_ status: SpanStatus) { self.status = status }
}

/// Puts a context into something that carries it.
public protocol Injector<Carrier>: Sendable {
    /// What carries it.
    associatedtype Carrier
    /// Adds a field.
    func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

/// The place of the instrument that writes traces.
public enum InstrumentationSystem {
    /// The one that is set up.
    public struct Instrument: Sendable {
        /// Puts a context into a carrier, as W3C's trace context says.
        public func inject<Carrier>(
            _ context: ServiceContext, into carrier: inout Carrier, using injector: some Injector<Carrier>
        ) {
            func hex(_ number: UInt64, _ width: Int) -> String {
                let digits = String(number, radix: 16)
                return String(repeating: "0", count: width - digits.count) + digits
            }
            let (trace, span) = context.identifiers
            injector.inject("00-\(hex(trace, 32))-\(hex(span, 16))-01", forKey: "traceparent", into: &carrier)
        }
    }

    /// The one that is set up.
    public static var instrument: Instrument { Instrument() }
}

/// Does a piece of work within a span.
public func withSpan<Result>(
    _ name: String, ofKind kind: SpanKind = .internal, _ work: (Span) async throws -> Result
) async rethrows -> Result {
    let span = Span(name)
    defer { StandInRecord.shared.end(span) }
    do {
        return try await work(span)
    } catch {
        span.setStatus(SpanStatus(code: .error))
        throw error
    }
}
