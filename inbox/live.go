package inbox

func (in *Inbox) liveRoutes() {}
