// The API of URLSessionTask, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of URLSessionTask")
struct UrlsessiontaskSurface {
    @Test("URLSessionTask: constants")
    func urlSessionTaskConstants() {
        #expect(URLSessionTask.defaultPriority == 0.5)
        #expect(URLSessionTask.lowPriority == 0.25)
        #expect(URLSessionTask.highPriority == 0.75)
    }

    @Test("URLSessionTask.State: raw values")
    func urlSessionTaskStateRawValues() {
        let cases: [(URLSessionTask.State, Int)] = [
            (URLSessionTask.State.running, 0), (URLSessionTask.State.suspended, 1), (URLSessionTask.State.canceling, 2),
            (URLSessionTask.State.completed, 3),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(URLSessionTask.State(rawValue: rawValue) == one)
        }
    }
}

/// Overrides everything that is open in `URLSessionTask` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLSessionTask: URLSessionTask, @unchecked Sendable {
    override func copy(with zone: NSZone?) -> Any { super.copy(with: zone) }

    override var taskIdentifier: Int { super.taskIdentifier }

    override var originalRequest: URLRequest? { super.originalRequest }

    override var currentRequest: URLRequest? { super.currentRequest }

    override var response: URLResponse? { super.response }

    override var delegate: (any URLSessionTaskDelegate)? {
        get { super.delegate }
        set { super.delegate = newValue }
    }

    override var progress: Progress { super.progress }

    override var earliestBeginDate: Date? {
        get { super.earliestBeginDate }
        set { super.earliestBeginDate = newValue }
    }

    override var countOfBytesClientExpectsToSend: Int64 {
        get { super.countOfBytesClientExpectsToSend }
        set { super.countOfBytesClientExpectsToSend = newValue }
    }

    override var countOfBytesClientExpectsToReceive: Int64 {
        get { super.countOfBytesClientExpectsToReceive }
        set { super.countOfBytesClientExpectsToReceive = newValue }
    }

    override var countOfBytesSent: Int64 { super.countOfBytesSent }

    override var countOfBytesReceived: Int64 { super.countOfBytesReceived }

    override var countOfBytesExpectedToSend: Int64 { super.countOfBytesExpectedToSend }

    override var countOfBytesExpectedToReceive: Int64 { super.countOfBytesExpectedToReceive }

    override var taskDescription: String? {
        get { super.taskDescription }
        set { super.taskDescription = newValue }
    }

    override func cancel() { super.cancel() }

    override var state: URLSessionTask.State { super.state }

    override var error: (any Error)? { super.error }

    override func suspend() { super.suspend() }

    override func resume() { super.resume() }

    override var priority: Float {
        get { super.priority }
        set { super.priority = newValue }
    }

    override var prefersIncrementalDelivery: Bool {
        get { super.prefersIncrementalDelivery }
        set { super.prefersIncrementalDelivery = newValue }
    }
}

/// Names the API of `URLSessionTask`.
private func urlSessionTaskMembers(of one: URLSessionTask) {
    let _: any (NSCopying & NSObject & ProgressReporting & Sendable).Type = URLSessionTask.self
    let _: (NSZone?) -> Any = one.copy(with:)
    let _: KeyPath<URLSessionTask, Int> = \.taskIdentifier
    let _: KeyPath<URLSessionTask, URLRequest?> = \.originalRequest
    let _: KeyPath<URLSessionTask, URLRequest?> = \.currentRequest
    let _: KeyPath<URLSessionTask, URLResponse?> = \.response
    let _: ReferenceWritableKeyPath<URLSessionTask, (any URLSessionTaskDelegate)?> = \.delegate
    let _: KeyPath<URLSessionTask, Progress> = \.progress
    let _: ReferenceWritableKeyPath<URLSessionTask, Date?> = \.earliestBeginDate
    let _: ReferenceWritableKeyPath<URLSessionTask, Int64> = \.countOfBytesClientExpectsToSend
    let _: ReferenceWritableKeyPath<URLSessionTask, Int64> = \.countOfBytesClientExpectsToReceive
    let _: KeyPath<URLSessionTask, Int64> = \.countOfBytesSent
    let _: KeyPath<URLSessionTask, Int64> = \.countOfBytesReceived
    let _: KeyPath<URLSessionTask, Int64> = \.countOfBytesExpectedToSend
    let _: KeyPath<URLSessionTask, Int64> = \.countOfBytesExpectedToReceive
    let _: ReferenceWritableKeyPath<URLSessionTask, String?> = \.taskDescription
    let _: () -> Void = one.cancel
    let _: KeyPath<URLSessionTask, URLSessionTask.State> = \.state
    let _: KeyPath<URLSessionTask, (any Error)?> = \.error
    let _: () -> Void = one.suspend
    let _: () -> Void = one.resume
    let _: ReferenceWritableKeyPath<URLSessionTask, Float> = \.priority
    let _: ReferenceWritableKeyPath<URLSessionTask, Bool> = \.prefersIncrementalDelivery
    let _: Float = URLSessionTask.defaultPriority
    let _: Float = URLSessionTask.lowPriority
    let _: Float = URLSessionTask.highPriority
}

/// Names, as far as it is deprecated, the API of `URLSessionTask`.
@available(*, deprecated)
private func urlSessionTaskDeprecatedmembers() {
    let _: () -> URLSessionTask = URLSessionTask.init
}

/// Names the API of `URLSessionTask.State`.
private func urlSessionTaskStateMembers() {
    let _: any Sendable.Type = URLSessionTask.State.self
}
