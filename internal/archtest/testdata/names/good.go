package holdshort

type Database struct{}

type Request struct{}

type requestWrapper struct{}
