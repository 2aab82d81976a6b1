// What tests keep values in that several threads read and write, and wait for events with.

import URLLoadingTestSupport

/// The tests' own, without an import in each of their files.
typealias Signal = URLLoadingTestSupport.Signal
typealias Guarded<Value> = URLLoadingTestSupport.Guarded<Value>
