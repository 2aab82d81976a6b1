// The form of the command line as the library's: texts and standard input in memory, files by their names.

import Foundation
import URLLoading

extension URLRequest.MultipartForm {
    /// Reads what must be in memory, and looks at the files.
    init(_ parts: [FormPart]) throws(FetchError) {
        self.init()
        for part in parts { try append(part) }
    }

    private mutating func append(_ part: FormPart) throws(FetchError) {
        switch part.content {
        case .text(let text):
            append(data: Data(text.utf8), name: part.name, fileName: part.fileName, contentType: part.type)
        case .textOfFile(let path):
            let text = try BodyReader.contents(of: path)
            append(data: text, name: part.name, fileName: part.fileName, contentType: part.type)
        case .file("-"):
            let data = try BodyReader.contents(of: "-")
            append(data: data, name: part.name, fileName: part.fileName ?? "-", contentType: part.type)
        case .file(let path):
            _ = try UploadFile.length(path)
            do throws(FileError) {
                let file = URL(fileURLWithPath: path)
                try append(file: file, name: part.name, fileName: part.fileName, contentType: part.type)
            } catch {
                throw FetchError(file: error)
            }
        }
    }
}

extension FetchError {
    /// What is wrong with a file of a form.
    init(file failure: URLRequest.MultipartForm.FileError) {
        let name = failure.file.relativePath
        let message =
            switch failure.problem {
            case .unreadable(let code): "\(name) cannot be read: \(FetchError.system(code.rawValue))"
            case .becameShorter: "\(name) has become shorter while it was sent"
            case .becameLonger: "\(name) has become longer while it was sent"
            case .tooLong: "the files of the form are longer together than a request can say"
            }
        self.init(.cannotRead, message)
    }
}
