package inbox

func (in *Inbox) settingsRoutes() {}
