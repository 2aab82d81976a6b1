// The walks of this target are made of the same numbers as everybody's.

import URLLoadingTestSupport

typealias SeededRandom = URLLoadingTestSupport.SeededRandom
