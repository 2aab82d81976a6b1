// What the servers of a case do, gathered from its lines: answers, and what is done on connections of HTTP/2, each with
// the steps of the lines behind it.
//
// Must not know: servers that run.

/// The gathered lines.
struct StageScript {
    private(set) var answers: [AnswerLine] = []
    private(set) var scripts: [HTTP2ScriptLine] = []
    /// Whether steps belong to the last script, and not to the last answer.
    private var isInScript = false

    /// Takes the next action of the case, whatever it is.
    mutating func take(_ action: Action) {
        switch action {
        case .answer(let line):
            answers.append(line)
            isInScript = false
        case .http2Script(let line):
            scripts.append(line)
            isInScript = true
        case .serverSteps(let more):
            guard var answer = answers.popLast() else { return }
            if case .webSocket(let styles, let fields, let steps) = answer.content {
                answer.content = .webSocket(styles: styles, fields: fields, steps: steps + more)
            }
            answers.append(answer)
        case .http2Steps(let more):
            if isInScript, var script = scripts.popLast() {
                script.steps += more
                scripts.append(script)
            } else if var answer = answers.popLast() {
                if case .http2(let steps) = answer.content { answer.content = .http2(steps: steps + more) }
                answers.append(answer)
            }
        default: break
        }
    }
}
