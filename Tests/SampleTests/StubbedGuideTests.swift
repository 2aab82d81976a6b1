// The code of README.md's section about testing, and of docs/custom-protocols.md: it is that of the samples, and does
// what the documents say.

import Foundation
import Testing
import URLLoading
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6

@Suite("The guide to testing and custom protocols")
struct StubbedGuideTests {
    @Test("The stubbed client", arguments: LanguageMode.allCases)
    func stubbed(mode: LanguageMode) async throws {
        let users = try #require(URL(string: "https://api.example.com/users"))
        let found =
            switch mode {
            case .swift5: try await URLLoadingSamplesSwift5.testUserClient(users)
            case .swift6: try await URLLoadingSamplesSwift6.testUserClient(users)
            }
        #expect(found == ["Ann", #"["Bea"]"#, "-1009"])
    }

    @Test("A scheme of one's own", arguments: LanguageMode.allCases)
    func asset(mode: LanguageMode) async throws {
        let session =
            switch mode {
            case .swift5: URLLoadingSamplesSwift5.assetSession()
            case .swift6: URLLoadingSamplesSwift6.assetSession()
            }
        defer { session.invalidateAndCancel() }
        let good = try #require(URL(string: "asset:greeting"))
        let (data, response) = try await session.data(from: good)
        #expect(String(decoding: data, as: UTF8.self) == "hello" && response.mimeType == "text/plain")
        let bad = try #require(URL(string: "asset:unheard-of"))
        await #expect(throws: URLError.self) { try await session.data(from: bad) }
    }
}
