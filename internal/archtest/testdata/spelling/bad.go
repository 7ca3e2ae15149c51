package holdshort

const runCancelled = "x" // want `one l`

// a cancelled run // want `one l`
var status = "Cancelled" // want `one l`
