print("the guest's own fetch")
