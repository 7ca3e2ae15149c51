package reply

var words = []string{"cancelled"}
