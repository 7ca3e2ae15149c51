package holdshort

import "time"

func backoff() { time.Sleep(time.Second) }
