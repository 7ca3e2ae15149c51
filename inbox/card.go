package inbox

func (in *Inbox) cardRoutes() {}
