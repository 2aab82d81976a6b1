print("the guest's own conformance")
