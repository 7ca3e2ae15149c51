package holdshort

type SessionManager struct{} // want `"Manager" says nothing`

type (
	DataBase  struct{} // want `"Base" says nothing`
	StoreImpl = int    // want `"Impl" says nothing`
)
