// The code of docs/forms.md, which SampleTests compares with that document block by block.

import Foundation
import URLLoading

/// Sends a form with a text, data and a file; gives the status and the answer.
public func sendForm(
    to url: URL, note: Data, photo: URL, in session: URLSession
) async throws -> (Int, String) {
    var form = URLRequest.MultipartForm()
    form.append(text: "Graz", name: "town")
    form.append(data: note, name: "note", fileName: "note.json")
    try form.append(file: photo, name: "photo")

    var request = URLRequest(url: url)
    request.setMultipartForm(form)
    let (answer, response) = try await session.data(for: request)
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: answer, as: UTF8.self))
}

/// Reports the file of a form that is not what it was.
public func sendCarefully(
    _ form: URLRequest.MultipartForm, to url: URL, in session: URLSession, report: (String) -> Void
) async throws {
    func send(_ form: URLRequest.MultipartForm) async throws {
        var request = URLRequest(url: url)
        request.setMultipartForm(form)
        _ = try await session.data(for: request)
    }
    do {
        try await send(form)
    } catch let error as URLError {
        guard let cause = error.userInfo[NSUnderlyingErrorKey] as? URLRequest.MultipartForm.FileError else {
            throw error
        }
        report("\(cause.file.lastPathComponent): \(cause.problem)")
    }
}
