package inbox

func (in *Inbox) deskRoutes() {}
