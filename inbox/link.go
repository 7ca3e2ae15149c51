package inbox

func (in *Inbox) linkRoutes() {}
