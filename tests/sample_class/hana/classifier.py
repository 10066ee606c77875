from transformers import BertModel

bert = BertModel.from_pretrained("bert-base-uncased")
