publish(r:int)
approve(r:int)
