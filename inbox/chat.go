package inbox

func (in *Inbox) chatRoutes() {}
