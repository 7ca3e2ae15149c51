package holdshort

import clock "time"

var now = clock.Now // want `uses time.Now`
