// What servers are told of a request's priority.

import Testing
import URLLoadingPolicy

@Suite struct RequestUrgencyTests {
    @Test(
        "H2.11: the usual priority is not told, others by steps",
        arguments: [
            (1, "u=0"), (0.9, "u=0"), (0.75, "u=1"), (0.625, "u=2"), (0.55, nil), (0.5, nil), (0.45, nil),
            (0.375, "u=4"),
            (0.25, "u=5"), (0.1, "u=6"), (0, "u=7"), (-1, "u=7"), (2, "u=0"), (.nan, nil), (.infinity, "u=0"),
            (-.infinity, "u=7"),
        ] as [(Float, String?)])
    func levels(priority: Float, field: String?) {
        #expect(RequestUrgency.field(priority: priority, isIncremental: false) == field)
        #expect(RequestUrgency.field(priority: priority, isIncremental: true) == field.map { $0 + ", i" })
    }
}
