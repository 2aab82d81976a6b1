// Cookies through the driver: section 5 of its protocol.

import Foundation
import Testing
import URLLoadingConformanceDriver
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Driver cookies")
struct CookieTests {
    @Test("Fields are stored, sent, listed and cleared")
    func commands() async throws {
        let driver = try DriverProcess()
        try await driver.open("a")
        let url: JSONValue = "https://example.com/x/y"
        let fields: JSONValue = [
            "a=1, b=2; Secure", "c=3; Domain=example.com; Path=/; HttpOnly; SameSite=Lax", "d=4; Max-Age=0",
        ]
        _ = try await driver.result("cookies.store", ["session": "a", "url": url, "set_cookie": fields])
        let header = try await driver.result("cookies.header", ["session": "a", "url": url])
        #expect(header["value"] == "a=1, b=2; c=3")
        let none = try await driver.result("cookies.header", ["session": "a", "url": "http://example.org/"])
        #expect(none["value"] == .null)
        let list = try await driver.result("cookies.list", ["session": "a"])
        #expect(
            list["cookies"] == [
                [
                    "name": "a", "value": "1, b=2", "domain": "example.com", "path": "/x", "secure": true,
                    "http_only": false, "host_only": true,
                ],
                [
                    "name": "c", "value": "3", "domain": ".example.com", "path": "/", "secure": false,
                    "http_only": true, "host_only": false, "same_site": "lax",
                ],
            ])
        _ = try await driver.result("cookies.clear", ["session": "a"])
        #expect(try await driver.result("cookies.list", ["session": "a"])["cookies"] == [])
    }

    @Test("A cookie may last as long as it likes")
    func longLives() async throws {
        let driver = try DriverProcess()
        try await driver.open("a")
        let fields: JSONValue = [
            "a=1; Max-Age=9223372036854775807", "b=2; Expires=Fri, 31 Dec 9999 23:59:59 GMT",
            "c=3; Max-Age=99999999999999999999",
        ]
        _ = try await driver.result(
            "cookies.store", ["session": "a", "url": "https://example.com/", "set_cookie": fields])
        let header = try await driver.result("cookies.header", ["session": "a", "url": "https://example.com/"])
        #expect(header["value"] == "a=1; b=2; c=3")
        _ = try await driver.result("cookies.list", ["session": "a"])
    }

    @Test("Requests send and keep cookies, unless the session is without")
    func requests() async throws {
        let router: LoopbackServer.Router = { request in
            .text(request.fields.first(.cookie) ?? "-").adding("Set-Cookie", "a=1")
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open("with")
            try await driver.open("without", ["cookies": false])
            for (name, expected) in [("with", "-"), ("with", "a=1"), ("without", "-"), ("without", "-")] {
                let result = try await driver.result(driver.get(server.url(), session: name))
                #expect(result["body_base64"]?.data == Data(expected.utf8))
            }
        }
    }
}
