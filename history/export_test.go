package history

import "net/http"

type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Hang makes every request of a Remote wait until its time is over.
func Hang(r *Remote) { r.http().Transport = silent{} }
