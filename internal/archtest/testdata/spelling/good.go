package holdshort

// A cancellation leaves a canceled run.
const Canceled = "canceled"
