"""Services to a data plane: plan.py decides, nft.py and hns.py act."""
