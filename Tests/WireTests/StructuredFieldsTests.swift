// Structured fields: what is one, and what only looks like it (RFC 9651).

import Testing
import URLLoadingWire

@Suite("Structured fields")
struct StructuredFieldsTests {
    private static func fields(_ lines: [String]) -> Fields {
        var fields = Fields()
        for line in lines { fields.append("X", line) }
        return fields
    }

    private static func item(_ lines: String...) -> StructuredItem? { fields(lines).structuredItem("X") }

    @Test(
        "B11.37: items of every kind",
        arguments: [
            ("0", BareItem.integer(0)), ("-17", .integer(-17)), ("999999999999999", .integer(999_999_999_999_999)),
            ("007", .integer(7)), (" 1 ", .integer(1)), ("1.5", .decimal(thousandths: 1500)),
            ("-0.001", .decimal(thousandths: -1)), ("?1", .boolean(true)), ("?0", .boolean(false)),
            ("\"a \\\"b\\\" \\\\\"", .string("a \"b\" \\")), ("\"\"", .string("")), ("a/b:c*", .token("a/b:c*")),
            ("*", .token("*")), (":aGk=:", .bytes([104, 105])), ("::", .bytes([])),
            ("@1659578233", .date(1_659_578_233)),
            ("@-1", .date(-1)), ("%\"gr%c3%bcn\"", .displayString("grün")),
        ])
    func items(text: String, value: BareItem) {
        #expect(Self.item(text)?.value == value)
    }

    @Test(
        "B11.37: text that is not an item is refused",
        arguments: [
            "", " ", "-", "1,2", "1 2", "1;", "1; =2", "1;A=2", "1000000000000000", "1.", ".5", "1.2345",
            "1234567890123.0", "+1", "0x10", "1e3", "?", "?2", "?10", "? 1", "?true", "true?", "\"a", "\"\u{7F}\"",
            "\"\\a\"", "a b",
            ":aGk", ":a!:", "@", "@1.5", "@a", "%\"%C3%BC\"", "%\"%ff\"", "%\"a", "%a", "(1)", "1\t", "\t1", "é",
        ])
    func noItems(text: String) {
        #expect(Self.item(text) == nil)
    }

    @Test("B11.37: parameters, of which the last of a key counts, and more than one line")
    func parameters() {
        let item = Self.item("4; a;b=\"x\";a=?0")
        #expect(item?.value == .integer(4))
        #expect(item?.parameters.map(\.key) == ["a", "b"])
        #expect(item?.parameters.map(\.value) == [.boolean(false), .string("x")])
        #expect(Self.item("4", "4") == nil)
        #expect(Fields().structuredItem("X") == nil)
    }

    /// A dictionary on one line.
    private static func dictionary(_ lines: String...) -> String? {
        fields(lines).structuredDictionary("X").map { members in
            members.map { "\($0.key)=\($0.value)\($0.parameters.isEmpty ? "" : ";\($0.parameters.count)")" }
                .joined(separator: " ")
        }
    }

    @Test("B11.36: dictionaries, over several lines, of which the last of a key counts")
    func dictionaries() {
        #expect(Self.dictionary("") == "")
        #expect(Self.dictionary("a=1") == "a=item(URLLoadingWire.BareItem.integer(1))")
        #expect(Self.dictionary("a") == "a=item(URLLoadingWire.BareItem.boolean(true))")
        #expect(Self.dictionary("a;x;y") == "a=item(URLLoadingWire.BareItem.boolean(true));2")
        #expect(
            Self.dictionary("a=1 ,\tb=2", "a=3")?.hasPrefix("a=item(URLLoadingWire.BareItem.integer(3)) b=") == true)
        #expect(Self.dictionary("a=( 1  2;x );y")?.hasPrefix("a=innerList(") == true)
        #expect(Self.dictionary("a=()")?.hasPrefix("a=innerList([])") == true)
        let broken = [
            "a=1,", "a=1,,b", ",", "A=1", "a=", "a==1", "a=1 b=2", "a=(1", "a=(1,2)", "a=(1)x", "1=a", "a=1;",
        ]
        for text in broken { #expect(Self.dictionary(text) == nil) }
    }
}
