// The walks of this target are made of the same numbers as all others.

import URLLoadingTestSupport

typealias SeededRandom = URLLoadingTestSupport.SeededRandom
