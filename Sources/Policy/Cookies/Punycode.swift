// The ASCII form of a label in another alphabet (RFC 3492). Only this direction is needed: lists write such names in
// their own letters, URLs in ASCII.
//
// Must not know names as a whole, and which letters are one and the same (that is whose list it is).

/// Writes labels in ASCII.
enum Punycode {
    /// A label as it stands in a URL's host; one in ASCII stays as it is.
    static func label(_ label: String) -> String {
        let scalars = label.unicodeScalars.map { Int($0.value) }
        guard scalars.contains(where: { $0 >= 0x80 }), scalars.count <= mostScalars else { return label }
        var output = scalars.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }

        // RFC 3492 §6.3: the letters follow in the order of their numbers, each as its distance from the one before.
        var (number, delta, bias, handled) = (0x80, 0, 72, basicCount)
        while handled < scalars.count {
            guard let next = scalars.filter({ $0 >= number }).min() else { break }
            delta += (next - number) * (handled + 1)
            number = next
            for scalar in scalars {
                if scalar < number { delta += 1 }
                guard scalar == number else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            number += 1
        }
        return "xn--" + String(decoding: output, as: UTF8.self)
    }

    /// A number in digits whose weight depends on what came before.
    private static func append(_ delta: Int, bias: Int, to output: inout [UInt8]) {
        var rest = delta
        var position = base
        while true {
            let threshold = min(max(position - bias, least), most)
            if rest < threshold { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digit(rest))
    }

    /// RFC 3492 §6.1.
    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var position = 0
        while delta > (base - least) * most / 2 {
            delta /= base - least
            position += base
        }
        return position + (base - least + 1) * delta / (delta + 38)
    }

    private static func digit(_ value: Int) -> UInt8 {
        value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "0") + UInt8(value - 26)
    }

    private static let (base, least, most) = (36, 1, 26)
    /// A label has at most 63 bytes (RFC 1035 §2.3.4); with so few letters no number here can grow too large.
    private static let mostScalars = 256
}
