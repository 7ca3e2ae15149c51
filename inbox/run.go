package inbox

func (in *Inbox) runRoutes() {}
