package api

import "slices"

// endpoints is the whole table, in the order of the documentation.
func (s *Server) endpoints() []endpoint {
	return slices.Concat(
		s.agentEndpoints(),
		s.sessionEndpoints(),
		s.messageEndpoints(),
		s.eventEndpoints(),
		s.runEndpoints(),
		s.requestEndpoints(),
		s.decisionEndpoints(),
		s.gateEndpoints(),
		s.escalationEndpoints(),
		s.resumeEndpoints(),
		s.webhookEndpoints(),
		s.keyEndpoints(),
		s.healthEndpoints(),
		s.pageEndpoints(),
		s.documentEndpoints(),
	)
}
