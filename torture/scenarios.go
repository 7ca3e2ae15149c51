package torture

// Scenarios are all of them.
var Scenarios = []Scenario{SingleApproval, MixedBatch, Edit, RejectContinues, RejectCancels, RejectReturns, Quorum, ExpiryRace, CancelRace, Crowd, Branches, SubFlow, Sleep, Retry,
	Posts, PersonSaysHappened, PersonSaysRetry, PersonGivesUp, ToolSaysHappened, ToolSaysNot, ToolCannotTell, IdempotentRepeats, DefiniteRetries, NodeLoss,
	SlowPosts, Together, Deploy, Restore, Gate, Inbound, Prompts, AgentBatch, AgentEdit, AgentWords, AgentPauses, SubAgent, Repair, RepairFails, Blocking}
