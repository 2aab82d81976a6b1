// The few shapes that pictures are made of, as SVG.

/// Shapes, each a line of text.
enum SVG {
    /// Where a text stands beside its place.
    enum Anchor: String {
        case start, middle, end
    }

    /// A picture on white.
    static func picture(width: Double, height: Double, _ shapes: [String]) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" font-family="sans-serif">
        <rect width="\(number(width))" height="\(number(height))" fill="white"/>
        \(shapes.joined(separator: "\n"))
        </svg>

        """
    }

    static func text(
        _ text: String, x: Double, y: Double, size: Int, isBold: Bool = false, anchor: Anchor = .start,
        colour: String = "#212529"
    ) -> String {
        let weight = isBold ? #" font-weight="bold""# : ""
        let place = anchor == .start ? "" : #" text-anchor="\#(anchor.rawValue)""#
        return
            ##"<text x="\##(number(x))" y="\##(number(y))" font-size="\##(size)"\##(weight)\##(place) fill="\##(colour)">"##
            + "\(text)</text>"
    }

    static func bar(x: Double, y: Double, width: Double, height: Double, colour: String) -> String {
        #"<rect x="\#(number(x))" y="\#(number(y))" width="\#(number(width))" height="\#(number(height))" "#
            + #"fill="\#(colour)"/>"#
    }

    static func line(from: (x: Double, y: Double), to: (x: Double, y: Double), colour: String) -> String {
        #"<line x1="\#(number(from.x))" y1="\#(number(from.y))" x2="\#(number(to.x))" y2="\#(number(to.y))" "#
            + #"stroke="\#(colour)"/>"#
    }

    static func curve(_ points: [(x: Double, y: Double)], colour: String) -> String {
        let places = points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
        return #"<polyline fill="none" stroke="\#(colour)" stroke-width="1.5" points="\#(places)"/>"#
    }

    static func dot(x: Double, y: Double, colour: String) -> String {
        #"<circle cx="\#(number(x))" cy="\#(number(y))" r="2.5" fill="\#(colour)"/>"#
    }

    /// A tenth is as fine as can be seen.
    private static func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
