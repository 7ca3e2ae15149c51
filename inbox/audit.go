package inbox

func (in *Inbox) auditRoutes() {}
