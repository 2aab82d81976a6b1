// A form as Python's parser of multipart messages reads it.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Python's email parser", .enabled(if: Peers.python != nil, "python3 is not installed"))
struct PythonFormTests {
    @Test("B5.91, B5.92: a form is read as the same parts, with the same names, types and bytes")
    func form() async throws {
        let python = try #require(Peers.python)
        let directory = try PeerDirectory()
        // The parser makes a LF of each CR LF, so that there are none.
        let text = String(repeating: "a line\n--almost\n", count: 10_000)
        try directory.write(text, to: "large.txt")
        var form = URLRequest.MultipartForm()
        form.append(text: "Gräz", name: "town")
        form.append(data: Data([0, 1, 10, 255]), name: "bytes", fileName: "a \"1\".bin")
        try form.append(file: URL(fileURLWithPath: directory.path + "/large.txt"), name: "large")
        form.append(text: "", name: "empty")
        let message = directory.path + "/message"
        try await withServer(router: { request in
            let head = Array("Content-Type: \(request.fields.first(.contentType) ?? "")\r\n\r\n".utf8)
            let isWritten = (try? Data(head + request.body).write(to: URL(fileURLWithPath: message))) != nil
            return .text(isWritten ? "written" : "lost")
        }) { server in
            var request = URLRequest(url: try #require(URL(string: server.url("/"))))
            request.setMultipartForm(form)
            let session = URLSession(configuration: .ephemeral)
            #expect(String(decoding: try await session.data(for: request).0, as: UTF8.self) == "written")
            session.invalidateAndCancel()
        }
        let program = """
            import email, email.policy, hashlib, sys
            message = email.message_from_binary_file(open(sys.argv[1], "rb"), policy=email.policy.HTTP)
            assert message.get_content_type() == "multipart/form-data" and not message.defects
            for part in message.iter_parts():
                assert part.get_content_disposition() == "form-data" and not part.defects
                name, content = part.get_param("name", header="content-disposition"), part.get_payload(decode=True)
                kind = part.get_content_type() if "content-type" in part else "none"
                print(ascii(name), ascii(part.get_filename()), kind, len(content), sum(content))
            """
        let run = try await ChildRun.run(python, ["-c", program, message])
        func sum(_ text: String) -> Int { text.utf8.reduce(0) { $0 + Int($1) } }
        #expect(
            run.outputText == """
                'town' None none 5 \(sum("Gräz"))
                'bytes' 'a %221%22.bin' application/octet-stream 4 266
                'large' 'large.txt' text/plain \(text.utf8.count) \(sum(text))
                'empty' None none 0 0

                """, "\(run.complaintsText)")
    }
}
