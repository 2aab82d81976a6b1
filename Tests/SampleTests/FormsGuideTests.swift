// The code of docs/forms.md: it is that of the samples, and does what the document says.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6

@Suite("The guide to forms")
struct FormsGuideTests {
    @Test("A form is sent, and a file that has changed is named", arguments: LanguageMode.allCases)
    func forms(mode: LanguageMode) async throws {
        let photo = FileManager.default.temporaryDirectory.appendingPathComponent("photo-\(UUID().uuidString).png")
        try Data("pixels".utf8).write(to: photo)
        defer { try? FileManager.default.removeItem(at: photo) }
        try await withServer(router: { request in
            let body = String(decoding: request.body, as: UTF8.self)
            let types = body.components(separatedBy: "\r\n").filter { $0.hasPrefix("Content-Type: ") }
            return .text("\(request.method) \(types.joined(separator: ", "))")
        }) { server in
            let session = URLSession(configuration: .ephemeral)
            let url = try #require(URL(string: server.url("/")))
            var form = URLRequest.MultipartForm()
            try form.append(file: photo, name: "photo")
            let note = Data("{}".utf8)
            var reports: [String] = []
            let (status, answer): (Int, String)
            switch mode {
            case .swift5:
                (status, answer) = try await URLLoadingSamplesSwift5.sendForm(
                    to: url, note: note, photo: photo, in: session)
                try Data("more pixels".utf8).write(to: photo)
                try await URLLoadingSamplesSwift5.sendCarefully(form, to: url, in: session) { reports.append($0) }
            case .swift6:
                (status, answer) = try await URLLoadingSamplesSwift6.sendForm(
                    to: url, note: note, photo: photo, in: session)
                try Data("more pixels".utf8).write(to: photo)
                try await URLLoadingSamplesSwift6.sendCarefully(form, to: url, in: session) { reports.append($0) }
            }
            #expect(status == 200)
            #expect(answer == "POST Content-Type: application/json, Content-Type: image/png")
            #expect(reports == ["\(photo.lastPathComponent): becameLonger"])
            session.invalidateAndCancel()
        }
    }
}
