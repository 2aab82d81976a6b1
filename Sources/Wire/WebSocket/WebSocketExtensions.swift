// The grammar of Sec-WebSocket-Extensions (RFC 6455 §9.1). It splits and unquotes, and knows no extension.
//
//     1#( token *( ";" token [ "=" ( token / quoted-string whose content is a token ) ] ) )

/// An element of Sec-WebSocket-Extensions.
package struct WebSocketExtension: Sendable, Equatable {
    /// A parameter, with or without a value.
    package struct Parameter: Sendable, Equatable {
        /// The name; case matters.
        package var name: String
        /// The value without quotes.
        package var value: String?

        /// Makes a parameter.
        package init(name: String, value: String? = nil) {
            self.name = name
            self.value = value
        }
    }

    /// The name; case matters.
    package var name: String
    /// The parameters in their order.
    package var parameters: [Parameter]

    /// Makes an element.
    package init(name: String, parameters: [Parameter] = []) {
        self.name = name
        self.parameters = parameters
    }

    /// The element as it is sent.
    package var text: String {
        parameters.reduce(name) { text, parameter in
            text + "; " + parameter.name + (parameter.value.map { "=" + $0 } ?? "")
        }
    }

    /// The elements of a field's value; nil where it follows no grammar.
    package static func elements(of value: UnsafeRawBufferPointer) -> [WebSocketExtension]? {
        var elements: [WebSocketExtension] = []
        var members = ListMembers(value)
        while let member = members.next() {
            if member.isEmpty { continue }
            guard elements.count < longestList, let element = WebSocketExtension(member) else { return nil }
            elements.append(element)
        }
        return elements
    }

    private init?(_ member: UnsafeRawBufferPointer) {
        var parts = member.split(separator: ASCII.semicolon, omittingEmptySubsequences: false)[...]
        guard let first = parts.popFirst(), let name = Self.token(UnsafeRawBufferPointer(rebasing: first).trimmed),
            parts.count <= Self.longestList
        else { return nil }
        self.name = name
        parameters = []
        for part in parts {
            guard let parameter = Self.parameter(UnsafeRawBufferPointer(rebasing: part)) else { return nil }
            parameters.append(parameter)
        }
    }

    private static func parameter(_ part: UnsafeRawBufferPointer) -> Parameter? {
        guard let equals = part.firstIndex(of: ASCII.equals) else {
            return token(part.trimmed).map { Parameter(name: $0) }
        }
        guard let name = token(part.part(0, equals).trimmed),
            let value = token(unquoted(part.part(equals + 1, part.count).trimmed))
        else { return nil }
        return Parameter(name: name, value: value)
    }

    /// What stands between two quotes; a token needs no escapes, so none are understood.
    private static func unquoted(_ value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard value.count >= 2, value.first == ASCII.quote, value.last == ASCII.quote else { return value }
        return value.part(1, value.count - 1)
    }

    private static func token(_ bytes: UnsafeRawBufferPointer) -> String? {
        Tokens.isToken(bytes) ? bytes.text : nil
    }

    /// Honest peers offer a few, and some look for each in all.
    private static var longestList: Int { 32 }
}
