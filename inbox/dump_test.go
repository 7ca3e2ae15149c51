package inbox_test
import ("testing";"os")
func TestDump(t *testing.T){ d:=newLinkBed(t)
 _,id:=d.starts(t,"ask","form"); a:=d.page(t,ana,"/r/"+string(id),nil); os.WriteFile("/tmp/d1.html",[]byte(a.body),0o600)
 _,id=d.starts(t,"pair",bedRefund{"5",50}); a=d.page(t,ana,"/requests/"+string(id)+"/card?edit",nil); os.WriteFile("/tmp/d2.html",[]byte(a.body),0o600)
 _,id=d.starts(t,"ask","many"); a=d.page(t,ana,"/r/"+string(id),nil); os.WriteFile("/tmp/d3.html",[]byte(a.body),0o600)
 _,id=d.starts(t,"wipe",map[string]any{"disk":"sda","amount":5}); a=d.page(t,ana,"/r/"+string(id),nil); os.WriteFile("/tmp/d4.html",[]byte(a.body),0o600)
}
