package holdshort

import clock "time"

var nap = clock.Sleep // want `wait for a signal`
