print("the guest's own demo")
