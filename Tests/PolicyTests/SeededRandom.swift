// The random walks of this target take their numbers from the generator that all test targets share.

import URLLoadingTestSupport

typealias SeededRandom = URLLoadingTestSupport.SeededRandom
