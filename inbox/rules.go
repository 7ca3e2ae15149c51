package inbox

// Rules are the rules by which calls are judged, as far as pages show them and let people try them.
type Rules interface{}

func (in *Inbox) ruleRoutes() {}
